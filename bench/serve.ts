/** The page server in a process of its own; tells its address to who started it. */
import { startPageServer } from './page-server.ts';

const server = await startPageServer(JSON.parse(process.argv[2] ?? '{}'));
process.send?.({ url: server.url });
process.once('disconnect', () => void server.close());
