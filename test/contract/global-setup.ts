// All test files share one PostgreSQL server and one S3 server. Otherwise each worker process would start its own.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { freshPostgres, stopPostgres } from "../harness/postgres.ts";
import { freshBucket, stopS3 } from "../harness/s3.ts";

export default async function shareServers(): Promise<() => Promise<void>> {
  // Requests are handled one after the other, because each program answers one line at a time.
  let last: Promise<unknown> = Promise.resolve();
  const server = createServer((request, response) => {
    response.shouldKeepAlive = false; // a later request must not use a connection that is just being closed
    last = last
      .then(request.url === "/s3" ? freshBucket : freshPostgres)
      .then((address) => response.end(address))
      .catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  process.env.SHARED_SERVERS = `http://127.0.0.1:${port}`; // read by addresses.ts in the workers
  return async () => {
    server.closeAllConnections();
    server.close();
    await stopPostgres();
    await stopS3();
  };
}
