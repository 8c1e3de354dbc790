import { createServer } from "node:net";

import { startServer } from "../test/harness/server.ts";

/** How long to wait for the jobs of the pictures and videos, in milliseconds. */
const TIMEOUT_MS = 600_000;

/**
 * Starts a server with the demo content for a benchmark, and waits until all jobs of its pictures and videos have ended. Until then,
 * pages show substitutes for some pictures, and the jobs take CPU time. The server makes the pictures with its own code, unless
 * ATELIE_VIPS names the vips command.
 */
export async function startDemoServer() {
  const metrics = `127.0.0.1:${await freePort()}`;
  const server = await startServer("sqlite", {
    demo: true,
    env: { ATELIE_METRICS_LISTEN: metrics, ATELIE_VIPS: process.env.ATELIE_VIPS ?? "off" },
  });
  try {
    await untilNoMediaJobs(metrics);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

async function untilNoMediaJobs(metrics) {
  const deadline = Date.now() + TIMEOUT_MS;
  while ((await waitingMediaJobs(metrics)) > 0) {
    if (Date.now() > deadline) throw new Error("the demo's pictures were not made in time");
    await new Promise((done) => setTimeout(done, 250));
  }
}

/** Returns how many jobs of pictures and videos wait or run. */
async function waitingMediaJobs(metrics) {
  const response = await fetch(`http://${metrics}/metrics`);
  const counts = (await response.text()).matchAll(
    /^atelie_jobs_waiting\{kind="(?:film|picture[^"]*)"\} (\d+)$/gm,
  );
  const all = [...counts].map(([, count]) => Number(count));
  if (all.length === 0) throw new Error("the metrics do not contain the jobs of pictures");
  return all.reduce((sum, count) => sum + count, 0);
}

/** Returns a port that no program uses. */
function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer().once("error", fail);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}
