/** TLS in front of the simulator, with the certificate of soc.example. */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const identity = { key: readFileSync('/config/api.key'), cert: readFileSync('/config/api.pem') };
https
  .createServer(identity, (asked, answer) => {
    const { method, url: path, headers } = asked;
    const behind = http.request({ port: 8765, method, path, headers }, (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
    });
    behind.on('error', () => answer.destroy());
    asked.pipe(behind);
  })
  .listen(443);
