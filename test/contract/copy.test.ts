// A site that `atelie copy` has moved is the same for its owner and its visitors.
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, it, onTestFinished } from "vitest";

import { Authenticator } from "../harness/authenticator.ts";
import { asAnon, asOwner, ownerEmail, ownerPassword } from "../harness/clients.ts";
import { makeDemoFolder } from "../harness/demo-folder.ts";
import { png } from "../harness/png.ts";
import { freshPostgres, stopPostgres } from "../harness/postgres.ts";
import { freshBucket, stopS3 } from "../harness/s3.ts";
import { type Server, startServer } from "../harness/server.ts";

const running = new Set<Server>();

afterAll(async () => {
  await Promise.all(Array.from(running, (server) => server.stop()));
  await stopPostgres();
  await stopS3();
});

async function start(options: Parameters<typeof startServer>[1]): Promise<Server> {
  const server = await startServer("sqlite", options);
  running.add(server);
  return server;
}

async function stop(server: Server): Promise<void> {
  running.delete(server);
  await server.stop();
}

it("a running site is copied from SQLite and disk to PostgreSQL and S3 and back", async () => {
  const home = await mkdtemp(join(tmpdir(), "atelie-copy-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const first = join(home, "first");
  const back = join(home, "back");
  const database = await freshPostgres();
  const bucket = await freshBucket();
  const target = ["--to", database, "--to-files", bucket];

  await cp(await makeDemoFolder(), first, { recursive: true });
  let server = await start({ demo: true, env: { ATELIE_DATA_DIR: first } });
  const owner = await asOwner(server);
  const factor = (await owner.auth.mfa.enroll({ factorType: "totp", friendlyName: "phone" })).data!;
  const phone = new Authenticator(factor.totp.secret);
  const verify = (client = owner) =>
    client.auth.mfa.challengeAndVerify({ factorId: factor.id, code: phone.next() });
  expect((await verify()).error).toBeNull();
  const picture = png(64, 48);
  const up = await owner.storage
    .from("product-images")
    .upload("moved/a ã.png", picture, { contentType: "image/png" });
  expect(up.error).toBeNull();
  const content = async (of: Server) => {
    const client = asAnon(of);
    const { data: products } = await client.from("products").select("*").order("id");
    const { data: covers } = await client.from("cover_images").select("*").order("id");
    const moved = client.storage.from("product-images").getPublicUrl("moved/a ã.png")
      .data.publicUrl;
    const urls = [moved, ...products!.map((p) => new URL(p.image_url, of.url).href)];
    const pictures = await Promise.all(
      urls.map(async (url) => {
        const response = await fetch(url);
        const bytes = Buffer.from(await response.arrayBuffer()).toString("base64");
        return [response.status, response.headers.get("etag"), bytes];
      }),
    );
    return { products, covers, pictures };
  };
  const before = await content(server);
  expect(before.products!.length).toBeGreaterThan(5);
  expect(before.pictures.map((p) => p[0])).toEqual(before.pictures.map(() => 200));
  expect(before.pictures[0]![2]).toBe(picture.toString("base64"));
  let session = (await owner.auth.getSession()).data.session!;

  // Session, password and second factor of the first site work on the copy.
  const check = async (moved: Server) => {
    expect(await content(moved)).toEqual(before);
    const known = asAnon(moved);
    const refreshed = await known.auth.refreshSession(session);
    expect(refreshed.error).toBeNull();
    session = refreshed.data.session!;
    expect((await known.auth.mfa.getAuthenticatorAssuranceLevel()).data!.currentLevel).toBe("aal2");
    const again = asAnon(moved);
    const signedIn = await again.auth.signInWithPassword({
      email: ownerEmail,
      password: ownerPassword,
    });
    expect(signedIn.error).toBeNull();
    expect((await verify(again)).error).toBeNull();
    const { data, error } = await again.from("contact_submissions").select("id");
    expect([error, Array.isArray(data)]).toEqual([null, true]);
    const files = again.storage.from("product-images");
    expect((await files.upload("new.png", picture, { contentType: "image/png" })).error).toBeNull();
    expect((await files.remove(["new.png"])).error).toBeNull();
  };

  const output = await server.command(["copy", "--from", first, ...target]);
  expect(output).toContain("Copied and the same: ");
  await stop(server);

  const secret = {
    ATELIE_JWT_SECRET: (await readFile(join(first, "jwt-secret"), "utf8")).trim(),
  };
  server = await start({
    env: { ...secret, ATELIE_DATABASE_URL: database, ATELIE_STORAGE_URL: bucket },
  });
  await check(server);
  const from = ["--from", database, "--from-files", bucket];
  await server.command(["copy", ...from, "--to", back]);
  await expect(
    server.command(["copy", "--from", first, "--to", database, "--to-files", back]),
  ).rejects.toMatchObject({ stderr: expect.stringContaining("stop it first") });
  await stop(server);

  server = await start({ env: { ...secret, ATELIE_DATA_DIR: back } });
  await check(server);
  await stop(server);
}, 300_000); // three starts, two copies and their comparison
