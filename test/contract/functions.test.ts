// The function submit-contact, called by supabase-js, by browsers and by other programs.
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { asAnon, asOwner, asService } from "../harness/clients.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { engines, type Server, startServer } from "../harness/server.ts";

afterAll(stopPostgres);

const message = {
  name: "Inês",
  email: "ines@exemplo.example",
  message: "Bom dia! Temos uma parede.",
  reason: "",
};

describe.each(engines)("functions on %s", (engine) => {
  let server: Server;
  beforeAll(async () => {
    server = await startServer(engine, { env: { ATELIE_TRUSTED_PROXIES: "127.0.0.1" } });
  });
  afterAll(() => server.stop());

  // Each call has its own client address, so that tests do not share a rate limit.
  let caller = 0;
  const submit = (body: unknown, headers: Record<string, string> = {}) =>
    asAnon(server).functions.invoke("submit-contact", {
      body: body as never,
      headers: { "x-forwarded-for": `198.51.100.${++caller}`, ...headers },
    });
  const urlencoded = { "Content-Type": "application/x-www-form-urlencoded" };

  it("FN-call-post FN-contact-ok: a message is stored, and the response says so", async () => {
    const { data, error } = await submit(message);
    expect(error).toBeNull();
    expect(data).toMatchObject({ success: true, message: expect.any(String) });
    const owner = await asOwner(server);
    const stored = await owner
      .from("contact_submissions")
      .select("*")
      .order("created_at", { ascending: false });
    expect(stored.data).toHaveLength(1);
    expect(stored.data![0]).toMatchObject({
      name: message.name,
      email: message.email,
      message: message.message,
      reason: "general",
      status: "new",
    });
  });

  it.each([
    [{ ...message, name: "I" }, "Name must be at least 2 characters"],
    [{ ...message, name: "  I  " }, "Name must be at least 2 characters"],
    [{ ...message, email: "ines" }, "Please enter a valid email address"],
    [{ ...message, message: "too short" }, "Message must be at least 10 characters"],
    [{ ...message, message: "😀".repeat(9) }, "Message must be at least 10 characters"],
  ])("FN-contact-rules: the rules of the page are checked again: %o", async (body, text) => {
    const { error } = await submit(body);
    expect(error?.context.status).toBe(400);
    expect(await error!.context.json()).toEqual({ success: false, error: text });
  });

  it("FN-contact-reason: a message with a filled honeypot gets a success response and goes into quarantine", async () => {
    const service = asService(server);
    const before = await service
      .from("contact_submissions")
      .select("*", { count: "exact", head: true });
    const { data } = await submit({ ...message, reason: "buy my watches" });
    const real = await submit({ ...message, reason: "purchase" });
    expect(data).toEqual(real.data);
    const after = await service.from("contact_submissions").select("reason", { count: "exact" });
    expect(after.count).toBe(before.count! + 1);
    expect(after.data!.filter((row) => row.reason === "purchase")).toHaveLength(1);
  });

  it("FN-call-limit: one address may call 30 times a minute", async () => {
    const from = { "x-forwarded-for": "203.0.113.77" };
    const statuses = new Map<number, number>();
    // The minute may change between the calls, so the loop allows one call more than twice the limit.
    for (let i = 0; i < 61; i++) {
      const { error } = await asAnon(server).functions.invoke("submit-contact", {
        body: message,
        headers: from,
      });
      const status = error ? (error.context.status as number) : 200;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses.keys()].sort()).toEqual([200, 429]);
    expect(statuses.get(200)).toBeGreaterThanOrEqual(30);
    expect(statuses.get(200)).toBeLessThanOrEqual(60);
  });

  it("FN-body-json FN-body-form FN-contact-language: a form is accepted as FormData, URL-encoded fields and text, as the client sends them", async () => {
    const fields = { ...message, language: "pt" };
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    const sent = {
      success: true,
      message: "Agradeço o seu contacto. Respondo em breve.",
    };
    for (const body of [form, JSON.stringify(fields), fields])
      expect(await submit(body)).toMatchObject({ data: sent, error: null });
    const encoded = (values: Record<string, string>) => new URLSearchParams(values).toString();
    expect(await submit(encoded(fields), urlencoded)).toMatchObject({ data: sent, error: null });
    form.set("email", "ines");
    for (const { error } of [
      await submit(form),
      await submit(encoded({ ...fields, email: "ines" }), urlencoded),
    ]) {
      expect(error?.context.status).toBe(400);
      expect(await error!.context.json()).toEqual({
        success: false,
        error: "Indique um endereço de e-mail válido",
      });
    }
    const stored = await asService(server)
      .from("contact_submissions")
      .select("message")
      .eq("message", message.message);
    expect(stored.data!.length).toBeGreaterThanOrEqual(4);
  });

  it("FN-body-other FN-body-broken: bodies of other types and forms with files are rejected", async () => {
    const { error } = await submit(new Blob(["x"])); // application/octet-stream
    expect(error?.context.status).toBe(415);
    expect(await error!.context.json()).toMatchObject({
      success: false,
      error: expect.any(String),
    });
    const form = new FormData();
    form.set("name", new Blob(["Inês"]), "name.txt");
    expect((await submit(form)).error?.context.status).toBe(400);
  });

  it("FN-call-browser FN-call-limit FN-page-safe: a form that a browser sends gets a page, in both languages", async () => {
    const post = (fields: Record<string, string>, from: string) =>
      fetch(`${server.url}/functions/v1/submit-contact`, {
        method: "POST",
        headers: { accept: "text/html,*/*;q=0.8", "x-forwarded-for": from },
        body: new URLSearchParams(fields),
      });
    const sent = await post({ ...message, language: "pt" }, "192.0.2.10");
    expect(sent.status).toBe(200);
    expect(sent.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(sent.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(sent.headers.get("content-security-policy")).not.toContain("script");
    expect(sent.headers.get("cache-control")).toBe("no-store");
    const page = await sent.text();
    expect(page).toContain('<html lang="pt">');
    expect(page).toContain("Mensagem enviada com sucesso!");
    expect(page).toMatch(/<link rel="stylesheet" href="\/assets\/[^"]+\.css">/);
    expect(page).not.toContain("<script");

    const wrong = await post({ ...message, name: '"><script>', email: "ines" }, "192.0.2.10");
    expect(wrong.status).toBe(400);
    const again = await wrong.text();
    expect(again).toContain("Please enter a valid email address");
    expect(again).toContain('value="&#34;&gt;&lt;script&gt;"');
    expect(again).not.toContain("<script");

    const statuses = new Set<number>();
    for (let i = 0; i < 61; i++) statuses.add((await post({}, "192.0.2.11")).status);
    expect([...statuses].sort()).toEqual([400, 429]);
  });

  it("FN-call-unknown: another function name is not found, whatever the method", async () => {
    for (const method of ["POST", "GET", "PUT", "PATCH", "DELETE"] as const) {
      const { error } = await asAnon(server).functions.invoke("nope", { method });
      expect(error?.context.status).toBe(404);
      expect(await error!.context.json()).toEqual({
        code: "NOT_FOUND",
        message: "Requested function was not found",
      });
    }
  });

  it("FN-call-method FN-page-form: only POST calls the function; a browser's GET shows its form", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"] as const) {
      const { error } = await asAnon(server).functions.invoke("submit-contact", { method });
      expect(error?.context.status).toBe(405);
      expect(error!.context.headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS");
    }
    const address = `${server.url}/functions/v1/submit-contact`;
    const form = await fetch(address, { headers: { accept: "text/html" } });
    expect(form.status).toBe(200);
    expect(await form.text()).toContain('<form action="/functions/v1/submit-contact"');
    const head = await fetch(address, { method: "HEAD", headers: { accept: "text/html" } });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await fetch(address, { method: "OPTIONS" })).status).toBe(204);
  });

  it("FN-call-post: a program without a key gets 401", async () => {
    for (const headers of [{}, { apikey: "x.y.z" }]) {
      const response = await fetch(`${server.url}/functions/v1/submit-contact`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(message),
      });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({
        code: expect.stringMatching(/^UNAUTHORIZED/),
        message: expect.any(String),
      });
    }
  });

  it.each([
    ["malformed JSON", "{", 400],
    ["a list", "[]", 400],
    ["numbers for texts", '{"name":1,"email":2,"message":3}', 400],
    ["nothing", "", 400],
    ["an oversize body", JSON.stringify({ ...message, message: "x".repeat(1 << 20) }), 413],
  ])("FN-body-broken: refuses %s", async (_name, body, status) => {
    const response = await fetch(`${server.url}/functions/v1/submit-contact`, {
      method: "POST",
      headers: { apikey: server.anonKey, "x-forwarded-for": "192.0.2.1" },
      body,
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ success: false, error: expect.any(String) });
  });

  it("FN-call-method: the client's preflight is accepted", async () => {
    const response = await fetch(`${server.url}/functions/v1/submit-contact`, {
      method: "OPTIONS",
      headers: {
        origin: "https://elsewhere.example",
        "access-control-request-method": "POST",
        "access-control-request-headers":
          "authorization,x-client-info,apikey,content-type,x-region",
      },
    });
    expect(response.ok).toBe(true);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    for (const name of ["authorization", "x-client-info", "apikey", "content-type", "x-region"]) {
      expect(response.headers.get("access-control-allow-headers")).toContain(name);
    }
  });
});
