// Delivery of mails: over SMTP, or as files when no SMTP server is set.
import { readFile } from "node:fs/promises";

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { asService } from "../harness/clients.ts";
import { type MailServer, startMailServer } from "../harness/mail-server.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

describe.each(engines)("mail on %s", (engine) => {
  let mailServer: MailServer;
  let server: Server;
  beforeAll(async () => {
    mailServer = await startMailServer();
    server = await startServer(engine, { env: mailServer.env });
  });
  afterAll(async () => {
    await server.stop();
    await mailServer.stop();
  });

  const invite = async (email: string, locale: string) => {
    const { error } = await asService(server).auth.admin.inviteUserByEmail(email, {
      data: { locale },
    });
    expect(error).toBeNull();
  };

  it("A-mail-2 A-mail-3: a mail is sent over SMTP with STARTTLS and a login, as text and HTML", async () => {
    await invite("ines@example.com", "pt-PT");
    const mail = await mailServer.next("ines@example.com");
    expect(mail.from).toBe("ola@atelie.example");
    expect(mail.subject).toContain("um convite");
    expect(mail.headers["Auto-Submitted"]).toEqual(["auto-generated"]);
    const link = /^https?:\S+$/m.exec(mail.text)?.[0] ?? "";
    expect(link.startsWith(`${server.url}/auth/v1/verify?`)).toBe(true);
    expect(new URL(link).searchParams.get("type")).toBe("invite");
    expect(mail.html).toContain(`href="${link.replaceAll("&", "&amp;")}"`);
    expect(mail.html).toContain('<html lang="pt"');
  });

  it("A-mail-7: a temporary SMTP error (451) is retried, and the mail arrives once", async () => {
    await mailServer.answer("451 Try again");
    await invite("rui@example.com", "en");
    const mail = await mailServer.next("rui@example.com");
    expect(mail.subject).toContain("an invitation");
    await expect.poll(() => server.log()).toContain("another try follows");
    expect(mailServer.all().filter((m) => m.to === "rui@example.com")).toHaveLength(1);
  });

  it("A-mail-7: a permanent SMTP error (550) is not retried, and the log does not contain the link's token", async () => {
    await mailServer.answer("550 No such user");
    await invite("nobody@example.com", "en");
    await expect.poll(() => server.log()).toContain("failed permanently");
    expect(server.log()).toContain("No such user");
    expect(server.log()).not.toContain("token=");
    expect(mailServer.all().filter((m) => m.to === "nobody@example.com")).toHaveLength(0);
  });

  it("A-mail-10: the command `atelie mail test` sends a mail", async () => {
    expect(await server.command(["mail", "test", "eva@example.com", "--language=pt"])).toContain(
      "has accepted the mail for eva@example.com",
    );
    expect((await mailServer.next("eva@example.com")).subject).toContain("o e-mail funciona");
    await mailServer.answer("550 No such user");
    await expect(server.command(["mail", "test", "nobody@example.com"])).rejects.toThrow(
      "No such user",
    );
  });
});

describe("mail without a server", () => {
  let server: Server | undefined;
  afterEach(() => server?.stop());

  it("A-mail-9: mails are written into the data folder, and the log names the file", async () => {
    server = await startServer("sqlite");
    const { error } = await asService(server).auth.admin.inviteUserByEmail("ines@example.com");
    expect(error).toBeNull();
    const file = () => /"file":"([^"]+\.eml)"/.exec(server?.log() ?? "")?.[1] ?? "";
    await expect.poll(file).toMatch(/\/mail\/[\dTZ]+-[a-z2-7]+\.eml$/);
    expect(await readFile(file(), "utf8")).toContain("To: <ines@example.com>");
    expect(server.log()).not.toContain("token=");
  });
});
