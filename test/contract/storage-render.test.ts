// Renditions: Unmodified transforms of supabase-js, and the requests of the site's pages.
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService } from "../harness/clients.ts";
import { pictureSize } from "../harness/picture-size.ts";
import { png } from "../harness/png.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { stopS3 } from "../harness/s3.ts";
import { backends, type Server, startServer } from "../harness/server.ts";

afterAll(async () => {
  await stopPostgres();
  await stopS3();
});

type Media = { v: string; width: number; height: number; widths: number[]; thumbhash?: string };

describe.each(backends)("renditions on %s, %s", (engine, store) => {
  let server: Server;
  let owner: SupabaseClient;
  let anon: SupabaseClient;
  let service: SupabaseClient;
  const address = "/storage/v1/object/public/product-images/quadro%20a.png";
  const fetchRendition = async (url: string, headers: Record<string, string> = {}) => {
    const got = await fetch(url, { headers });
    const bytes = Buffer.from(await got.arrayBuffer());
    return { got, bytes, what: got.ok ? pictureSize(bytes) : bytes.toString() };
  };
  const media = async (client: SupabaseClient) => {
    const { data, error } = await client.from("products").select("title,media").single();
    expect(error).toBeNull();
    return (data!.media as Record<string, Media>)[address]!;
  };

  beforeAll(async () => {
    server = await startServer(engine, { store });
    owner = await asOwner(server);
    anon = asAnon(server);
    service = asService(server);
    const up = await owner.storage
      .from("product-images")
      .upload("quadro a.png", png(800, 400), { contentType: "image/png" });
    expect(up.error).toBeNull();
    const row = await owner.from("products").insert({ title: "Quadro", image_url: address });
    expect(row.error).toBeNull();
  });
  afterAll(() => server.stop());

  it("F-render-public: the public URL of a transform gives the nearest size of the ladder", async () => {
    const files = anon.storage.from("product-images");
    for (const [transform, want] of [
      [{ width: 320 }, "webp 320x160"],
      [{ width: 330, quality: 50 }, "webp 400x200"],
      [{ width: 100, height: 100 }, "webp 128x128"],
      [{ width: 320, height: 100, resize: "contain" }, "webp 256x128"],
      [{ width: 320, height: 320, resize: "fill" }, "webp 320x320"],
      [{ width: 9999 }, "webp 800x400"],
    ] as const) {
      const { publicUrl } = files.getPublicUrl("quadro a.png", { transform }).data;
      expect(publicUrl).toContain("/render/image/public/");
      const { got, what } = await fetchRendition(publicUrl, {
        accept: "image/avif,image/webp,*/*",
      });
      expect([what, got.headers.get("content-type"), got.headers.get("cache-control")]).toEqual([
        want,
        "image/webp",
        "public, max-age=300",
      ]);
    }
    const save = files.getPublicUrl("quadro a.png", {
      transform: { width: 320 },
      download: "a.webp",
    });
    expect(
      (await fetchRendition(save.data.publicUrl)).got.headers.get("content-disposition"),
    ).toContain("a.webp");
  });

  it("F-render-key: a caller with a key gets exactly the requested size", async () => {
    for (const client of [anon, owner, service]) {
      const { data, error } = await client.storage
        .from("product-images")
        .download("quadro a.png", { transform: { width: 200, height: 50, quality: 60 } });
      expect(error).toBeNull();
      expect(pictureSize(Buffer.from(await data!.arrayBuffer()))).toBe("png 200x50");
    }
    const bad = await anon.storage
      .from("product-images")
      .download("quadro a.png", { transform: { width: 200, quality: 5 } });
    expect(bad.error).not.toBeNull();
  });

  it("F-sign-transform: a signed URL of a rendition gives that rendition only", async () => {
    await service.storage.createBucket("vault", { public: false });
    const vault = service.storage.from("vault");
    await vault.upload("a.png", png(300, 200), { contentType: "image/png" });
    const signed = await vault.createSignedUrl("a.png", 60, {
      transform: { width: 90, height: 90, resize: "cover" },
    });
    const url = signed.data!.signedUrl;
    expect(url).toContain("/render/image/sign/vault/a.png?token=");
    const { got, what } = await fetchRendition(url);
    expect([what, got.headers.get("cache-control")]).toEqual(["png 90x90", "private, max-age=300"]);
    const whole = await fetch(url.replace("/render/image/sign/", "/object/sign/"));
    expect(whole.status).toBe(400);
    const open = vault.getPublicUrl("a.png", { transform: { width: 90 } }).data.publicUrl;
    expect((await fetch(open)).status).toBe(400);
  });

  it("T-select-media T-rpc-focus: the tables API describes a picture before its renditions exist", async () => {
    const known = await media(anon);
    expect(known).toMatchObject({ kind: "image", width: 800, height: 400, tiles: false });
    expect(known.widths).toEqual([64, 128, 192, 256, 320, 400, 512, 640, 800]);
    expect(known).not.toHaveProperty("details");
    await expect.poll(async () => (await media(anon)).thumbhash, { timeout: 45_000 }).toBeTruthy();
    // The placeholder is stored with the first sizes; the picture is ready when the whole ladder is.
    await expect
      .poll(() => media(owner))
      .toMatchObject({
        details: { state: "ready", engine: "atelie", ladder: { 320: expect.any(Number) } },
      });
    const focus = { address, x: 0.25, y: 0.75 };
    expect((await anon.rpc("set_media_focus", focus)).error).toMatchObject({ code: "42501" });
    expect((await owner.rpc("set_media_focus", focus)).error).toBeNull();
    expect(await media(anon)).toMatchObject({ focus: [0.25, 0.75] });
    expect((await anon.from("products").select("*").single()).data).not.toHaveProperty("media");
    expect((await anon.from("products").select("id").order("media")).error).toMatchObject({
      code: "42703",
    });
  });

  it("F-render-accept F-render-headers F-render-share: a versioned rendition may be cached forever, and its format is negotiated", async () => {
    const { v } = await media(anon);
    const at = `${server.url}/storage/v1/render/image/public/product-images/quadro%20a.png`;
    const versioned = await fetchRendition(`${at}?width=640&v=${v}`, { accept: "image/webp" });
    expect(versioned.got.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(versioned.got.headers.get("vary")).toContain("Accept");
    const etag = versioned.got.headers.get("etag")!;
    const again = await fetch(`${at}?width=640&v=${v}`, {
      headers: { accept: "image/webp", "if-none-match": etag },
    });
    expect(again.status).toBe(304);
    expect((await fetchRendition(`${at}?width=640`, { accept: "image/jpeg" })).what).toBe(
      "png 640x320",
    );
    expect((await fetchRendition(`${at}?width=640&format=jpeg`)).what).toBe("jpeg 640x320");
    const share = await fetchRendition(`${at}?width=1200&height=630&resize=frame&format=jpeg`);
    expect(share.what).toBe("jpeg 1200x630");
    expect((await fetch(`${at}?width=1000&height=630&resize=frame&format=jpeg`)).status).toBe(400);
  });

  it("F-render-accept F-render-told: without WebP and AVIF in Accept the format of the picture is kept, and a header says what was done", async () => {
    const jpeg = await fetchRendition(
      `${server.url}${address}?format=jpeg`.replace("/object/", "/render/image/"),
    );
    await owner.storage
      .from("product-images")
      .upload("c.jpg", jpeg.bytes, { contentType: "image/jpeg" });
    for (const [name, own] of [
      ["quadro a.png", "png"],
      ["c.jpg", "jpeg"],
    ] as const) {
      const files = anon.storage.from("product-images");
      const at = files.getPublicUrl(name, { transform: { width: 64, height: 64 } }).data.publicUrl;
      for (const accept of ["", "*/*", "image/png,image/jpeg"]) {
        const { got, what } = await fetchRendition(at, accept ? { accept } : {});
        expect([accept, what, got.headers.get("content-type")]).toEqual([
          accept,
          `${own} 64x64`,
          `image/${own}`,
        ]);
        expect(got.headers.get("vary")).toContain("Accept");
        expect(got.headers.get("x-transformations")).toBe("height:64,width:64,resizing_type:fill");
      }
      expect((await fetchRendition(at, { accept: "image/webp,*/*" })).what).toBe("webp 64x64");
      expect((await fetchRendition(`${at}&format=origin`, { accept: "image/webp" })).what).toBe(
        `${own} 64x64`,
      );
    }
  });

  it("F-clean-public: the owner can download the original file", async () => {
    const trailing = Buffer.concat([png(20, 10), Buffer.from("taken at home")]);
    const files = owner.storage.from("product-images");
    await files.upload("b.png", trailing, { contentType: "image/png" });
    const shown = await bytesOf(files.getPublicUrl("b.png").data.publicUrl);
    expect(shown.includes("at home")).toBe(false);
    const path = `${server.url}/storage/v1/object/authenticated/product-images/b.png?original`;
    const { data } = await owner.auth.getSession();
    const mine = await bytesOf(path, { authorization: `Bearer ${data.session!.access_token}` });
    expect(mine.equals(trailing)).toBe(true);
    const other = await fetch(path, { headers: { apikey: server.anonKey } });
    expect([other.status, await other.json()]).toMatchObject([400, { statusCode: "403" }]);
  });

  async function bytesOf(url: string, headers: Record<string, string> = {}) {
    const got = await fetch(url, { headers: { apikey: server.anonKey, ...headers } });
    expect(got.status).toBe(200);
    return Buffer.from(await got.arrayBuffer());
  }

  it("F-render-verify: the command line verifies renditions and makes them again", async () => {
    expect(await server.command(["media", "rebuild"])).toContain("product-images/b.png: ok");
    expect(await server.command(["media", "verify"])).toMatch(/3 pictures and videos\n$/);
  });
});
