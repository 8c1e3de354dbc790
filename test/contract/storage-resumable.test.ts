import { createHash, randomFillSync } from "node:crypto";
import { readFile } from "node:fs/promises";

import { Upload } from "tus-js-client";
import { afterAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, ownerEmail, ownerPassword } from "../harness/clients.ts";
import { freshPostgres, stopPostgres } from "../harness/postgres.ts";
import { freshBucket, stopS3 } from "../harness/s3.ts";
import { backends, type Server, startServer } from "../harness/server.ts";

afterAll(async () => {
  await stopPostgres();
  await stopS3();
});

// UPLOAD_BYTES=2000000000 tries the largest; the cuts are spread over the file.
const size = Number(process.env.UPLOAD_BYTES ?? 200e6);
const cuts = Number(process.env.UPLOAD_CUTS ?? 5);
const patience = 120_000 + size / 1000;

const chunk = 6 * 1024 * 1024; // as the hosted backend asks for

function film(length: number): Buffer {
  const content = randomFillSync(Buffer.alloc(length));
  content.write("\0\0\0\x18ftypisom\0\0\x02\0isommp41", 0, "latin1");
  return content;
}

const sha256 = (content: Uint8Array) => createHash("sha256").update(content).digest("hex");

async function token(server: Server): Promise<string> {
  const { data } = await asAnon(server).auth.signInWithPassword({
    email: ownerEmail,
    password: ownerPassword,
  });
  return data.session!.access_token;
}

type Options = { name: string; bearer: string; url?: string; abortAt?: number; type?: string };

// One sitting: uploads until the end or until abortAt bytes were sent; gives the upload's address.
function sitting(server: Server, content: Buffer, options: Options): Promise<string> {
  return new Promise((done, fail) => {
    const upload: Upload = new Upload(content, {
      endpoint: `${server.url}/storage/v1/upload/resumable`,
      ...(options.url ? { uploadUrl: options.url } : {}),
      headers: { authorization: `Bearer ${options.bearer}`, "x-upsert": "false" },
      uploadDataDuringCreation: true,
      retryDelays: [],
      chunkSize: chunk,
      metadata: {
        bucketName: "product-images",
        objectName: options.name,
        contentType: options.type ?? "video/mp4",
        cacheControl: "3600",
      },
      onError: fail,
      onSuccess: () => done(upload.url!),
      onProgress: (sent) => {
        if (options.abortAt === undefined || sent < options.abortAt || !upload.url) return;
        void upload.abort().then(() => done(upload.url!), fail);
      },
    });
    upload.start();
  });
}

async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
}

describe.each(backends)("resumable upload on %s, %s", (engine, store) => {
  it(
    "goes on after interruptions, and refuses as an ordinary upload does",
    async () => {
      const server = await startServer(engine, { store });
      try {
        await asOwner(server);
        const bearer = await token(server);
        const content = film(size);
        let url: string | undefined;
        for (let cut = 1; cut <= cuts; cut++) {
          const abortAt = (size * cut) / (cuts + 1);
          url = await sitting(server, content, {
            name: "film.mp4",
            bearer,
            abortAt,
            ...(url ? { url } : {}),
          });
        }
        expect(url).toMatch(`${server.url}/storage/v1/upload/resumable/`);
        const foreign = await fetch(url!, {
          method: "HEAD",
          headers: { authorization: `Bearer ${server.serviceKey}`, "tus-resumable": "1.0.0" },
        });
        expect(foreign.status).toBe(404);
        await sitting(server, content, { name: "film.mp4", bearer, url: url! });
        const peak = await peakMemory(server.pid);
        const shown = await fetch(
          asAnon(server).storage.from("product-images").getPublicUrl("film.mp4").data.publicUrl,
        );
        const hash = createHash("sha256");
        for await (const piece of shown.body!) hash.update(piece);
        expect(hash.digest("hex")).toBe(sha256(content));
        if (process.env.UPLOAD_BYTES)
          console.log(`${size} bytes, ${cuts} cuts: ${peak} MB at most`);
        expect(peak, "MB of memory at most").toBeLessThan(100);

        const small = film(1000);
        const status = (e: unknown) =>
          (e as { originalResponse?: { getStatus: () => number } }).originalResponse?.getStatus();
        const refused = (options: Partial<Options>, body = small) =>
          sitting(server, body, { name: "x.mp4", bearer, ...options }).then(() => 0, status);
        expect(await refused({ name: "film.mp4" })).toBe(409);
        expect(await refused({ bearer: "x.y.z" })).toBe(401);
        expect(await refused({ bearer: server.anonKey })).toBe(403);
        expect(await refused({}, Buffer.from("<!doctype html><script>"))).toBe(415);
        expect(await refused({ name: "../x.mp4" })).toBe(400);
      } finally {
        await server.stop();
      }
    },
    patience,
  );
});

it("goes on at another node on the same PostgreSQL and S3, after the first has ended", async () => {
  const env = {
    ATELIE_DATABASE_URL: await freshPostgres(),
    ATELIE_STORAGE_URL: await freshBucket(),
    ATELIE_JWT_SECRET: "a secret that both nodes of this test share",
  };
  const first = await startServer("sqlite", { env });
  const second = await startServer("sqlite", { env });
  try {
    await asOwner(first);
    const bearer = await token(first);
    const content = film(20_000_000);
    const url = await sitting(first, content, { name: "film.mp4", bearer, abortAt: 9e6 });
    await first.stop();
    await sitting(second, content, {
      name: "film.mp4",
      bearer,
      url: url.replace(first.url, second.url),
    });
    const shown = await fetch(
      asAnon(second).storage.from("product-images").getPublicUrl("film.mp4").data.publicUrl,
    );
    expect(sha256(new Uint8Array(await shown.arrayBuffer()))).toBe(sha256(content));
  } finally {
    await second.stop();
  }
}, 60_000);
