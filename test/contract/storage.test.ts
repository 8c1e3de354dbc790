// Storage requests beyond supabase-js: browser forms, ranges, conditional requests, and hostile names and
// files.
import { randomBytes } from "node:crypto";
import { deflateSync } from "node:zlib";

import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { stopS3 } from "../harness/s3.ts";
import { backends, type Server, startServer } from "../harness/server.ts";
import { png } from "../harness/png.ts";

afterAll(async () => {
  await stopPostgres();
  await stopS3();
});

describe.each(backends)("storage on %s, %s", (engine, store) => {
  let server: Server;
  let owner: SupabaseClient;
  let anon: SupabaseClient;
  const picture = png(64, 48);
  beforeAll(async () => {
    server = await startServer(engine, { store });
    owner = await asOwner(server);
    anon = asAnon(server);
  });
  afterAll(() => server.stop());

  it.each(["product-images", "review-images", "cover-images"])(
    "F-download-public F-download-defused F-download-gone: a file in %s is uploaded, downloaded by its public URL, and removed",
    async (bucket) => {
      const up = await owner.storage
        .from(bucket)
        .upload("um quadro ã.png", picture, { contentType: "image/png" });
      expect(up.error).toBeNull();
      expect(up.data).toMatchObject({
        path: "um quadro ã.png",
        fullPath: `${bucket}/um quadro ã.png`,
      });
      const { publicUrl } = anon.storage.from(bucket).getPublicUrl("um quadro ã.png").data;
      const got = await fetch(publicUrl);
      expect([
        got.status,
        got.headers.get("content-type"),
        got.headers.get("x-content-type-options"),
        got.headers.get("cache-control"),
      ]).toEqual([200, "image/png", "nosniff", "max-age=3600"]);
      expect(Buffer.from(await got.arrayBuffer()).equals(picture)).toBe(true);
      const removed = await owner.storage.from(bucket).remove(["um quadro ã.png"]);
      expect(removed.data).toMatchObject([{ name: "um quadro ã.png", bucket_id: bucket }]);
      const missing = await fetch(publicUrl);
      expect(missing.status).toBe(400);
      expect(await missing.json()).toMatchObject({ statusCode: "404", error: "not_found" });
    },
  );

  it("F-upload-form: a browser's form uploads a file", async () => {
    const file = new File([new Uint8Array(picture)], "x.png", { type: "image/png" });
    const up = await owner.storage
      .from("product-images")
      .upload("form.png", file, { cacheControl: "600" });
    expect(up.error).toBeNull();
    const got = await fetch(
      anon.storage.from("product-images").getPublicUrl("form.png").data.publicUrl,
    );
    expect(got.headers.get("cache-control")).toBe("max-age=600");
    expect((await got.arrayBuffer()).byteLength).toBe(picture.length);
  });

  it("F-download-download F-download-range F-download-validators: range requests and conditional requests are supported", async () => {
    await owner.storage
      .from("product-images")
      .upload("range.png", picture, { contentType: "image/png" });
    const url = anon.storage.from("product-images").getPublicUrl("range.png").data.publicUrl;
    const part = await fetch(url, { headers: { range: "bytes=1-3" } });
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
      206,
      `bytes 1-3/${picture.length}`,
      "PNG",
    ]);
    expect((await fetch(url, { headers: { range: "bytes=999999-" } })).status).toBe(416);
    const head = await fetch(url, { method: "HEAD" });
    expect(head.headers.get("content-length")).toBe(String(picture.length));
    expect(
      (await fetch(url, { headers: { "if-none-match": head.headers.get("etag")! } })).status,
    ).toBe(304);
    expect(
      (await fetch(url, { headers: { "if-modified-since": head.headers.get("last-modified")! } }))
        .status,
    ).toBe(304);
    const named = await fetch(
      anon.storage.from("product-images").getPublicUrl("range.png", { download: 'a "b"\r\nc.png' })
        .data.publicUrl,
    );
    expect(named.status).toBe(200);
    expect(named.headers.get("content-disposition")).toMatch(/^attachment;/);
  });

  it("F-upload-upsert: an existing name is rejected unless the request allows overwriting", async () => {
    const files = owner.storage.from("product-images");
    await files.upload("twice.png", picture, { contentType: "image/png" });
    const second = await files.upload("twice.png", picture, { contentType: "image/png" });
    expect(second.error).toMatchObject({
      statusCode: "409",
      message: "The resource already exists",
    });
    const larger = png(80, 80);
    expect(
      (await files.upload("twice.png", larger, { contentType: "image/png", upsert: true })).error,
    ).toBeNull();
    const got = await fetch(files.getPublicUrl("twice.png").data.publicUrl);
    expect((await got.arrayBuffer()).byteLength).toBe(larger.length);
  });

  it("F-list-v1 F-list-who: only the owner can list files", async () => {
    await owner.storage
      .from("cover-images")
      .upload("folder/a.png", picture, { contentType: "image/png" });
    await owner.storage.from("cover-images").upload("b.png", picture, { contentType: "image/png" });
    const { data } = await owner.storage.from("cover-images").list();
    expect(data!.map((f) => [f.name, f.id === null])).toEqual([
      ["b.png", false],
      ["folder", true],
    ]);
    expect((await owner.storage.from("cover-images").list("folder")).data![0]).toMatchObject({
      name: "a.png",
      metadata: { mimetype: "image/png", size: picture.length },
    });
    expect((await anon.storage.from("cover-images").list()).data).toEqual([]);
  });

  it("F-upload-who: visitors cannot upload", async () => {
    const up = await anon.storage
      .from("product-images")
      .upload("mine.png", picture, { contentType: "image/png" });
    expect(up.error).toMatchObject({ statusCode: "403" });
    const removed = await anon.storage.from("product-images").remove(["range.png"]);
    expect(removed.error ?? removed.data).toSatisfy((v: unknown) =>
      Array.isArray(v) ? v.length === 0 : true,
    );
    expect(
      (await fetch(anon.storage.from("product-images").getPublicUrl("range.png").data.publicUrl))
        .status,
    ).toBe(200);
  });

  it.each([
    [
      "an HTML file named .jpg",
      "page.jpg",
      Buffer.from("<!doctype html><script>alert(1)</script>"),
      "image/jpeg",
    ],
    [
      "an SVG",
      "a.svg",
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      "image/svg+xml",
    ],
    ["a PNG named .jpg", "a.jpg", picture, "image/jpeg"],
    [
      "a film among the portraits",
      "a.mp4",
      Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from("ftypisom"), randomBytes(64)]),
      "video/mp4",
    ],
    ["noise", "a.png", randomBytes(200), "image/png"],
    ["nothing", "a.png", Buffer.alloc(0), "image/png"],
  ])("F-upload-type: refuses %s", async (_name, path, bytes, contentType) => {
    const { error } = await owner.storage
      .from("review-images")
      .upload(path, bytes, { contentType });
    expect(error).not.toBeNull();
    expect(Number((error as unknown as { statusCode: string }).statusCode)).toBeGreaterThanOrEqual(
      400,
    );
    expect(Number((error as unknown as { statusCode: string }).statusCode)).toBeLessThan(500);
    expect((await owner.storage.from("review-images").list()).data).toEqual([]);
  });

  it("F-upload-size: a picture with too many pixels is rejected by its header", async () => {
    const { error } = await owner.storage
      .from("product-images")
      .upload("bomb.png", png(50_000, 50_000, deflateSync(Buffer.alloc(10))), {
        contentType: "image/png",
      });
    expect(error).not.toBeNull();
    expect((error as unknown as { statusCode: string }).statusCode).toBe("413");
  });

  it.each([
    "../x.png",
    "a/../../x.png",
    "%2e%2e/x.png",
    "..%2fx.png",
    "a//b.png",
    "a\\b.png",
    "./x.png",
    "%00.png",
    "x\n.png",
  ])("F-upload-name: refuses the path %j, which leaves the bucket", async (path) => {
    const token = (await owner.auth.getSession()).data.session!.access_token;
    for (const method of ["POST", "DELETE", "GET"]) {
      const response = await rawRequest(
        server.url,
        method,
        `/storage/v1/object/product-images/${path}`,
        token,
        server.anonKey,
      );
      expect(response, `${method} ${path}`).toBeGreaterThanOrEqual(400);
      expect(response, `${method} ${path}`).toBeLessThan(500);
    }
  });

  // Sends a request without fetch, because fetch would normalize the path.
  async function rawRequest(
    base: string,
    method: string,
    path: string,
    token: string,
    apikey: string,
  ): Promise<number> {
    const { connect } = await import("node:net");
    const { hostname, port } = new URL(base);
    return new Promise((done, fail) => {
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          `${method} ${path} HTTP/1.1\r\nHost: x\r\napikey: ${apikey}\r\nAuthorization: Bearer ${token}\r\nContent-Type: image/png\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
        ),
      );
      let text = "";
      socket.on("data", (chunk) => (text += chunk.toString()));
      socket.on("error", fail);
      socket.on("close", () => done(Number(text.split(" ")[1])));
    });
  }

  it("F-upload-who: forged tokens are rejected with 401", async () => {
    const response = await fetch(`${server.url}/storage/v1/object/product-images/x.png`, {
      method: "POST",
      headers: { authorization: "Bearer a.b.c", "content-type": "image/png" },
      body: new Uint8Array(picture),
    });
    expect(response.status).toBe(401);
  });
});
