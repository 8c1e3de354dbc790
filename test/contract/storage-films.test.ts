// Videos: how they are processed after an upload by supabase-js, and their data in pages.
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { Upload } from "tus-js-client";
import { afterAll, expect, describe, it } from "vitest";

import { asAnon, asOwner } from "../harness/clients.ts";
import { boxes, boxOf, indexAtEnd } from "../harness/mp4.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { root } from "../harness/root.ts";
import { stopS3 } from "../harness/s3.ts";
import { backends, startServer } from "../harness/server.ts";

afterAll(async () => {
  await stopPostgres();
  await stopS3();
});

describe.each(backends)("films on %s, %s", (engine, store) => {
  it("F-film-index F-film-media: soon after the upload a video begins with its index, and its frames are unchanged", async () => {
    const server = await startServer(engine, { store });
    try {
      const owner = await asOwner(server);
      const fast = await readFile(join(root, "internal/demo/content/noite-no-cais.mp4"));
      const slow = indexAtEnd(fast);
      expect(boxes(slow).at(-1)!.kind).toBe("moov");
      const files = owner.storage.from("product-images");
      const plain = await files.upload("plain.mp4", slow, { contentType: "video/mp4" });
      expect(plain.error).toBeNull();
      const { data } = await owner.auth.getSession();
      await new Promise<void>((done, fail) => {
        new Upload(slow, {
          endpoint: `${server.url}/storage/v1/upload/resumable`,
          headers: { authorization: `Bearer ${data.session!.access_token}` },
          retryDelays: [],
          chunkSize: 6 * 1024 * 1024,
          metadata: { bucketName: "product-images", objectName: "tus.mp4" },
          onError: fail,
          onSuccess: () => done(),
        }).start();
      });
      const addresses: string[] = [];
      for (const name of ["plain.mp4", "tus.mp4"]) {
        const { publicUrl } = files.getPublicUrl(name).data;
        const shown = async () => Buffer.from(await (await fetch(publicUrl)).arrayBuffer());
        await expect
          .poll(async () => boxes(await shown())[1]!.kind, { timeout: 45_000 })
          .toBe("moov");
        const now = await shown();
        expect(boxes(now)[0]!.kind).toBe("ftyp");
        expect(boxOf(now, "mdat").equals(boxOf(slow, "mdat"))).toBe(true);
        expect(now.equals(fast)).toBe(true);
        const head = await fetch(publicUrl, { headers: { range: "bytes=0-1" } });
        expect([head.status, head.headers.get("content-range")]).toEqual([
          206,
          `bytes 0-1/${fast.length}`,
        ]);
        const info = await files.info(name);
        expect(info.data).toMatchObject({ size: fast.length, etag: head.headers.get("etag") });
        addresses.push(new URL(publicUrl).pathname);
      }

      const [film, second] = addresses;
      const picture = await readFile(join(root, "internal/demo/content/images/mu-jardim.jpg"));
      const still = await files.upload("plain.still.jpg", picture, { contentType: "image/jpeg" });
      expect(still.error).toBeNull();
      const row = { title: "Noite no cais", video_gallery: [film, second] };
      expect((await owner.from("products").insert(row)).error).toBeNull();
      const { media } = (await asAnon(server).from("products").select("media").single()).data!;
      const known = media as Record<string, object>;
      expect(known[film!]).toMatchObject({ kind: "video", codec: "avc1", plays: true });
      expect(known[film!]).toMatchObject({ duration: expect.closeTo(12, 0), width: 1600 });
      expect(known[film!]).toMatchObject({ poster: film!.replace(/mp4$/, "still.jpg") });
      expect(known[film!]).toMatchObject({ still: { kind: "image", v: expect.any(String) } });
      expect(known[second!]).not.toHaveProperty("poster");

      const cut = await files.upload("cut.mp4", slow.subarray(0, 9000), {
        contentType: "video/mp4",
      });
      expect(cut.error).toMatchObject({ statusCode: "415" });
      await server.command(["media", "rebuild"]);
      expect(await server.command(["media", "verify"])).toContain("product-images/tus.mp4: ok");
    } finally {
      await server.stop();
    }
  });
});
