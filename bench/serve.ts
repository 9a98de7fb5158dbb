/** The page server in a process of its own, so that its work is not counted as the worker's. */
import { startPageServer } from './page-server.ts';

const server = await startPageServer(JSON.parse(process.argv[2] ?? '{}'));
process.on('message', () => process.send?.({ served: server.served() }));
process.once('disconnect', () => process.exit());
process.send?.({ url: server.url });
