// One PostgreSQL server and one S3 server for all files: each worker process would start its own.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { freshPostgres, stopPostgres } from "../harness/postgres.ts";
import { freshBucket, stopS3 } from "../harness/s3.ts";

export default async function shareServers(): Promise<() => Promise<void>> {
  // One after the other: each program answers one line at a time.
  let last: Promise<unknown> = Promise.resolve();
  const server = createServer((request, answer) => {
    answer.shouldKeepAlive = false; // a later request must not meet a connection that ends just then
    last = last
      .then(request.url === "/s3" ? freshBucket : freshPostgres)
      .then((address) => answer.end(address))
      .catch((error: unknown) => answer.writeHead(500).end(String(error)));
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
