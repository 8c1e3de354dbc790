// Runs a real mail server for tests (the program test/mailserver). It requires STARTTLS and a login.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { helperCommand } from "./programs.ts";
import { root } from "./root.ts";

export type Mail = {
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string[]>;
};

export type MailServer = {
  /** Environment variables by which Ateliê uses this mail server. */
  env: Record<string, string>;
  /** Returns the next mail to this address that no earlier call has returned. Waits up to 45 s by default. */
  next: (to: string, timeoutMs?: number) => Promise<Mail>;
  /** Returns all mails so far. */
  all: () => Mail[];
  /** Sets the server's reply to the next recipient, such as "451 Try later". It applies when the promise is fulfilled. */
  answer: (text: string) => Promise<void>;
  stop: () => Promise<void>;
};

/** Starts the mail server. */
export async function startMailServer(): Promise<MailServer> {
  const [program, ...args] = helperCommand("mailserver");
  const helper = spawn(program, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((done) => helper.once("exit", () => done()));
  const lines = createInterface({ input: helper.stdout });
  const greeting = await new Promise<{ url: string; certificates: string }>((done, fail) => {
    lines.once("line", (line) => done(JSON.parse(line)));
    lines.once("close", () => fail(new Error("the mail helper ended")));
  });
  const mails: Mail[] = [];
  const taken = new Set<Mail>();
  const waiting = new Set<() => void>();
  const confirmations: (() => void)[] = [];
  lines.on("line", (line) => {
    const read = JSON.parse(line) as Mail | { answer: string };
    if ("answer" in read) {
      confirmations.shift()?.();
      return;
    }
    mails.push(read);
    for (const check of waiting) check();
  });
  const find = (to: string) => mails.find((mail) => mail.to === to && !taken.has(mail));

  return {
    env: {
      ATELIE_SMTP_URL: greeting.url,
      ATELIE_MAIL_FROM: "Ateliê <ola@atelie.example>",
      SSL_CERT_FILE: greeting.certificates,
    },
    next: (to, timeoutMs = 45_000) =>
      new Promise((done, fail) => {
        const timer = setTimeout(() => {
          waiting.delete(check);
          fail(new Error(`no mail to ${to}; there are ${mails.map((m) => m.to).join(", ")}`));
        }, timeoutMs);
        const check = () => {
          const mail = find(to);
          if (!mail) return;
          taken.add(mail);
          waiting.delete(check);
          clearTimeout(timer);
          done(mail);
        };
        waiting.add(check);
        check();
      }),
    all: () => [...mails],
    answer: (text) =>
      new Promise((done) => {
        confirmations.push(done);
        helper.stdin.write(text + "\n");
      }),
    stop: async () => {
      helper.stdin.end();
      await ended;
    },
  };
}
