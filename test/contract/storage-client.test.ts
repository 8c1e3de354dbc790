// Every call of the official storage client against the binary, as docs/contracts/storage.md promises.
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService } from "../harness/clients.ts";
import { png } from "../harness/png.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { stopS3 } from "../harness/s3.ts";
import { backends, type Server, startServer } from "../harness/server.ts";

afterAll(async () => {
  await stopPostgres();
  await stopS3();
});

const asPng = { contentType: "image/png" };

describe.each(backends)("the storage client on %s, %s", (engine, store) => {
  let server: Server;
  let owner: SupabaseClient;
  let anon: SupabaseClient;
  let service: SupabaseClient;
  const picture = png(64, 48);
  const bytes = async (got: Blob | Response | null) => Buffer.from(await got!.arrayBuffer());

  beforeAll(async () => {
    server = await startServer(engine, { store, env: { ATELIE_STORAGE_QUOTA: "1MB" } });
    owner = await asOwner(server);
    anon = asAnon(server);
    service = asService(server);
    const made = await service.storage.createBucket("vault", {
      public: false,
      fileSizeLimit: "1MB",
      allowedMimeTypes: ["image/*"],
    });
    expect(made).toEqual({ data: { name: "vault" }, error: null });
  });
  afterAll(() => server.stop());

  it("F-bucket-list: everybody can list public buckets; only the service key sees private ones", async () => {
    for (const client of [anon, owner, service]) {
      const { data } = await client.storage.listBuckets({
        limit: 2,
        offset: 1,
        sortColumn: "name",
        sortOrder: "asc",
        search: "images",
      });
      expect(data!.map((b) => b.id)).toEqual(["product-images", "review-images"]);
    }
    expect((await service.storage.getBucket("vault")).data).toMatchObject({
      id: "vault",
      public: false,
      file_size_limit: 1_000_000,
      allowed_mime_types: ["image/*"],
    });
    for (const client of [anon, owner]) {
      expect((await client.storage.getBucket("vault")).error).toMatchObject({ statusCode: "404" });
      expect((await client.storage.listBuckets()).data!.map((b) => b.id)).not.toContain("vault");
    }
    expect((await anon.storage.getBucket("none")).error).toMatchObject({
      status: 400,
      statusCode: "404",
      message: "Bucket not found",
    });
  });

  it("F-bucket-create F-bucket-name F-bucket-size F-bucket-types F-bucket-update F-bucket-empty F-bucket-delete: the service key creates, changes, empties and deletes buckets", async () => {
    const { storage } = service;
    expect((await storage.createBucket("extra")).data).toEqual({ name: "extra" });
    expect((await storage.createBucket("extra")).error).toMatchObject({ statusCode: "409" });
    expect((await storage.createBucket("a/b")).error).toMatchObject({ statusCode: "400" });
    expect(
      (
        await storage.updateBucket("extra", {
          public: true,
          fileSizeLimit: 50_000,
          allowedMimeTypes: ["image/png"],
        })
      ).data,
    ).toEqual({ message: "Successfully updated" });
    expect((await storage.getBucket("extra")).data).toMatchObject({
      public: true,
      file_size_limit: 50_000,
      allowed_mime_types: ["image/png"],
    });
    expect((await storage.from("extra").upload("x.png", picture, asPng)).error).toBeNull();
    expect((await storage.deleteBucket("extra")).error).toMatchObject({ statusCode: "409" });
    expect((await storage.emptyBucket("extra")).error).toBeNull();
    expect((await storage.deleteBucket("extra")).data).toEqual({ message: "Successfully deleted" });
    expect((await storage.getBucket("extra")).error).toMatchObject({ statusCode: "404" });
  });

  it("F-bucket-create F-bucket-update F-bucket-empty F-bucket-delete F-bucket-fixed: other callers cannot change buckets, and nobody can change the site's own buckets", async () => {
    for (const client of [anon, owner]) {
      expect((await client.storage.createBucket("mine")).error).toMatchObject({
        statusCode: "403",
      });
      expect((await client.storage.updateBucket("vault", { public: true })).error).toMatchObject({
        statusCode: "403",
      });
      expect((await client.storage.emptyBucket("vault")).error).toMatchObject({
        statusCode: "403",
      });
      expect((await client.storage.deleteBucket("vault")).error).toMatchObject({
        statusCode: "403",
      });
    }
    expect((await service.storage.deleteBucket("cover-images")).error).toMatchObject({
      statusCode: "403",
    });
    expect(
      (await service.storage.updateBucket("cover-images", { public: false })).error,
    ).toMatchObject({ statusCode: "403" });
  });

  it("F-upload-raw F-upload-form F-upload-update F-upload-cache F-upload-encoding F-download-token F-download-info: files are uploaded, updated and downloaded with their metadata", async () => {
    const files = owner.storage.from("product-images");
    const up = await files.upload("up/a.png", picture, {
      ...asPng,
      cacheControl: "77",
      metadata: { artist: "Inês" },
    });
    expect(up.data).toMatchObject({ path: "up/a.png", fullPath: "product-images/up/a.png" });
    const info = await files.info("up/a.png");
    expect(info.data).toMatchObject({
      id: up.data!.id,
      name: "up/a.png",
      bucketId: "product-images",
      size: picture.length,
      contentType: "image/png",
      cacheControl: "max-age=77",
      metadata: { artist: "Inês" },
    });
    const larger = png(80, 80);
    expect((await files.update("up/a.png", larger, asPng)).error).toBeNull();
    expect((await bytes((await files.download("up/a.png")).data)).equals(larger)).toBe(true);
    const streamed = await files.download("up/a.png").asStream();
    expect((await bytes(new Response(streamed.data))).equals(larger)).toBe(true);
    const form = new FormData();
    form.append("metadata", JSON.stringify({ from: "form" }));
    form.append("", new Blob([new Uint8Array(picture)], { type: "image/png" }));
    expect((await files.upload("up/form.png", form)).error).toBeNull();
    expect((await files.info("up/form.png")).data).toMatchObject({ metadata: { from: "form" } });
    expect(
      (await files.upload("up/gz.png", picture, { ...asPng, contentEncoding: "gzip" })).error,
    ).toMatchObject({ statusCode: "415" });
  });

  it("F-download-exists: the client can ask whether an object exists", async () => {
    const files = anon.storage.from("product-images");
    await owner.storage.from("product-images").upload("there.png", picture, asPng);
    expect((await files.exists("there.png")).data).toBe(true);
    expect((await files.exists("nowhere.png")).data).toBe(false);
    expect((await anon.storage.from("vault").exists("x.png")).data).toBe(false);
    await expect(anon.storage.from("none").exists("x.png")).rejects.toMatchObject({
      message: "Bucket not found",
    });
    const address = `${server.url}/storage/v1/object/product-images`;
    const headers = { apikey: server.anonKey };
    expect((await fetch(`${address}/there.png`, { method: "HEAD", headers })).status).toBe(200);
    expect((await fetch(`${address}/nowhere.png`, { method: "HEAD", headers })).status).toBe(400);
  });

  it("F-change-move F-change-copy F-download-version F-change-who: files are moved and copied, also to another bucket", async () => {
    const files = owner.storage.from("product-images");
    await files.upload("move/a.png", picture, { ...asPng, metadata: { n: 1 } });
    expect((await files.move("move/a.png", "move/b.png")).data).toMatchObject({
      message: "Successfully moved",
    });
    expect(
      (await files.copy("move/b.png", "c.png", { destinationBucket: "cover-images" })).data,
    ).toEqual({
      path: "cover-images/c.png",
    });
    expect((await owner.storage.from("cover-images").info("c.png")).data).toMatchObject({
      metadata: { n: 1 },
    });
    expect(
      (
        await files.copy("move/b.png", "bare.png", {
          copyMetadata: false,
          metadata: { cacheControl: "5" },
        })
      ).error,
    ).toBeNull();
    expect((await files.info("bare.png")).data).toMatchObject({
      metadata: {},
      cacheControl: "max-age=5",
    });
    expect(
      (await files.move("move/b.png", "c.png", { destinationBucket: "cover-images" })).error,
    ).toMatchObject({ statusCode: "409" });
    expect((await files.copy("move/b.png", "bare.png")).error).toMatchObject({ statusCode: "409" });
    expect((await files.move("none.png", "d.png")).error).toMatchObject({ statusCode: "404" });
    expect(
      (await anon.storage.from("product-images").move("bare.png", "d.png")).error,
    ).toMatchObject({
      statusCode: "403",
    });
    expect((await files.move("bare.png", "d.png", { sourceVersionId: "1" })).error).toMatchObject({
      code: "FeatureNotEnabled",
    });
  });

  it("F-sign-names: names with ? and # can be signed", async () => {
    const vault = service.storage.from("vault");
    for (const name of ["que?.png", "n#1?%3F.png"]) {
      // The caller must encode such a name wherever the client inserts it into a URL.
      expect((await vault.upload(encodeURIComponent(name), picture, asPng)).error).toBeNull();
      const one = await vault.createSignedUrl(encodeURIComponent(name), 60);
      const many = await vault.createSignedUrls([name], 60);
      for (const address of [one.data!.signedUrl, many.data![0]!.signedUrl!]) {
        const got = await fetch(address);
        expect(got.status, address).toBe(200);
        expect((await bytes(got)).equals(picture)).toBe(true);
      }
    }
  });

  it("F-download-public F-download-token F-download-download F-sign-one F-sign-many F-sign-key: downloads of private objects are signed, one or many at a time", async () => {
    const vault = service.storage.from("vault");
    expect((await vault.upload("pasta/quadro ã.png", picture, asPng)).error).toBeNull();
    expect((await fetch(vault.getPublicUrl("pasta/quadro ã.png").data.publicUrl)).status).toBe(400);
    expect((await anon.storage.from("vault").download("pasta/quadro ã.png")).error).not.toBeNull();
    const one = await vault.createSignedUrl("pasta/quadro ã.png", 60, {
      download: "O mar.png",
      cacheNonce: "7",
    });
    const got = await fetch(one.data!.signedUrl);
    expect([got.status, got.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(got.headers.get("content-disposition")).toContain('filename="O mar.png"');
    expect((await bytes(got)).equals(picture)).toBe(true);
    const many = await vault.createSignedUrls(["pasta/quadro ã.png", "none.png"], 60);
    expect(many.data!.map((d) => [d.path, d.error === null])).toEqual([
      ["pasta/quadro ã.png", true],
      ["none.png", false],
    ]);
    expect((await fetch(many.data![0]!.signedUrl!)).status).toBe(200);
    expect(
      (await owner.storage.from("vault").createSignedUrl("pasta/quadro ã.png", 60)).error,
    ).toMatchObject({ statusCode: "404" });
    expect((await vault.createSignedUrl("pasta/quadro ã.png", 0)).error).toMatchObject({
      statusCode: "400",
    });
    const token = new URL(one.data!.signedUrl).searchParams.get("token")!;
    expect(
      (
        await fetch(`${server.url}/storage/v1/bucket`, {
          headers: { authorization: `Bearer ${token}` },
        })
      ).status,
    ).toBe(401);
    const forged = await fetch(
      `${server.url}/storage/v1/object/sign/vault/pasta/x.png?token=${server.serviceKey}`,
    );
    expect([forged.status, await forged.json()]).toMatchObject([400, { error: "InvalidJWT" }]);
  });

  it("F-sign-upload F-sign-put: a signed upload can be used once", async () => {
    const files = owner.storage.from("product-images");
    const signed = await files.createSignedUploadUrl("signed/a ã?.png");
    expect(signed.error).toBeNull();
    const visitor = anon.storage.from("product-images");
    const { token } = signed.data!;
    expect(
      (await visitor.uploadToSignedUrl("signed/b.png", token, picture, asPng)).error,
    ).toMatchObject({
      statusCode: "400",
    });
    const put = await fetch(signed.data!.signedUrl, {
      method: "PUT",
      body: new Uint8Array(picture),
    });
    expect(put.status).toBe(200);
    expect(
      (await fetch(signed.data!.signedUrl, { method: "PUT", body: new Uint8Array(picture) }))
        .status,
    ).toBe(400);
    const named = await files.createSignedUploadUrl("signed/c.png");
    const up = await visitor.uploadToSignedUrl("signed/c.png", named.data!.token, picture, {
      ...asPng,
      cacheControl: "9",
    });
    expect(up.data).toEqual({ path: "signed/c.png", fullPath: "product-images/signed/c.png" });
    expect((await files.createSignedUploadUrl("signed/c.png")).error).toMatchObject({
      statusCode: "409",
    });
    const again = await files.createSignedUploadUrl("signed/c.png", { upsert: true });
    const blob = new Blob([new Uint8Array(png(9, 9))], { type: "image/png" });
    expect(
      (await visitor.uploadToSignedUrl("signed/c.png", again.data!.token, blob)).error,
    ).toBeNull();
    expect((await visitor.createSignedUploadUrl("signed/d.png")).error).toMatchObject({
      statusCode: "403",
    });
  });

  it("F-list-v1 F-list-v2 F-list-who F-change-many: files are listed in pages, by prefix, with and without folders", async () => {
    const files = owner.storage.from("review-images");
    for (const name of ["a.png", "praia/b.png", "praia/2026/c.png", "z.png"])
      expect((await files.upload(name, picture, asPng)).error).toBeNull();
    const v1 = await files.list("praia", {
      limit: 10,
      offset: 0,
      sortBy: { column: "name", order: "desc" },
      search: "b",
    });
    expect(v1.data!.map((f) => f.name)).toEqual(["b.png"]);
    const first = await files.listV2({
      limit: 2,
      with_delimiter: true,
      sortBy: { column: "name", order: "asc" },
    });
    expect(first.data).toMatchObject({
      hasNext: true,
      objects: [{ name: "a.png", metadata: { size: picture.length } }],
      folders: [{ name: "praia/" }],
    });
    const next = await files.listV2({
      limit: 2,
      with_delimiter: true,
      cursor: first.data!.nextCursor!,
    });
    expect(next.data).toMatchObject({ hasNext: false, folders: [], objects: [{ name: "z.png" }] });
    const flat = await files.listV2({
      prefix: "praia/",
      sortBy: { column: "created_at", order: "desc" },
    });
    expect(flat.data!.objects.map((o) => o.name)).toEqual(["praia/2026/c.png", "praia/b.png"]);
    expect((await anon.storage.from("review-images").listV2()).data).toEqual({
      hasNext: false,
      folders: [],
      objects: [],
    });
    const removed = await files.remove(["a.png", "none.png", "praia/b.png"]);
    expect(removed.data!.map((o) => o.name)).toEqual(["a.png", "praia/b.png"]);
  });

  it("F-bucket-type F-bucket-others F-download-version F-change-many: options that the server does not support are rejected", async () => {
    const files = owner.storage.from("product-images");
    await files.upload("plain.png", picture, asPng);
    const refused = { status: 400, code: "FeatureNotEnabled" };
    expect((await files.info("plain.png", { versionId: "1" })).error).toMatchObject(refused);
    expect((await files.createSignedUrl("plain.png", 60, { versionId: "1" })).error).toMatchObject(
      refused,
    );
    expect((await files.remove([{ path: "plain.png", versionId: "1" }])).error).toMatchObject(
      refused,
    );
    expect((await files.listV2({ noncurrentVersions: "include" })).error).toMatchObject(refused);
    expect(
      (await fetch(files.getPublicUrl("plain.png", { versionId: "1" }).data.publicUrl)).status,
    ).toBe(400);
    expect(
      (await service.storage.createBucket("x", { public: true, type: "ANALYTICS" })).error,
    ).toMatchObject(refused);
    expect(
      (
        await service.storage.createBucket("x", {
          public: true,
          versioningStatus: "enabled",
        } as never)
      ).error,
    ).toMatchObject(refused);
    const unknown = { status: 400, statusCode: "404" };
    expect((await service.storage.getBucketLifecycle("vault")).error).toMatchObject(unknown);
    expect(
      (await service.storage.updateBucketLifecycle("vault", { rules: [] })).error,
    ).toMatchObject(unknown);
    expect((await service.storage.deleteBucketLifecycle("vault")).error).toMatchObject(unknown);
    expect((await service.storage.purgeBucketCache("vault")).error).toMatchObject(unknown);
    expect((await files.purgeCache("plain.png")).error).toMatchObject(unknown);
    expect((await service.storage.vectors.listBuckets()).error).not.toBeNull();
    expect((await service.storage.analytics.listBuckets()).error).not.toBeNull();
  });

  it("F-upload-quota: an upload beyond the quota is rejected", async () => {
    const film = Buffer.concat([
      Buffer.from([0, 0, 0, 24]),
      Buffer.from("ftypisom\0\0\0\0isommp41"),
      Buffer.alloc(1_000_000, 1),
    ]);
    const { error } = await owner.storage
      .from("product-images")
      .upload("film.mp4", film, { contentType: "video/mp4" });
    expect(error).toMatchObject({ status: 400, statusCode: "413", code: "EntityTooLarge" });
    expect(error!.message).toContain("quota");
  });
});
