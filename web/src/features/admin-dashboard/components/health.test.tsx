import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { HealthLine } from "@/features/admin-dashboard/components/health-line";
import { HealthProblems } from "@/features/admin-dashboard/components/health-problems";
import type { Language } from "@/lib/boot";
import type { SiteHealth, Problem } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";

const server = setupServer();
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

/** A site without problems, all of whose items are proved. */
const healthySite: SiteHealth = {
  checked_at: "2026-11-23T12:00:00Z",
  backup: {
    proved: true,
    destination: "s3 copies.example/alvor/",
    same_disk: false,
    last_at: "2026-11-23T11:59:30Z",
    proof_at: "2026-11-23T03:00:00Z",
    proven_restore_point: "2026-11-23T02:58:00Z",
    waiting_files: 0,
    unproven_files: 0,
  },
  disk: { proved: true, level: "enough", free: 41_300_000_000, total: 100_000_000_000 },
  mail: {
    proved: true,
    server: true,
    delivered_at: "2026-11-21T12:00:00Z",
    waiting: 0,
    retried: 0,
    failed: 0,
  },
  certificate: { proved: true, domain: "alvor.example", ends_at: "2027-02-12T12:00:00Z" },
  version: "1.2.0",
  release: null,
  problems: [],
};

function answer(health: SiteHealth, language: Language = "en") {
  server.use(
    http.post(`${testBoot.apiUrl}/rest/v1/rpc/get_site_health`, () => HttpResponse.json(health)),
  );
  renderApp(
    <>
      <HealthProblems />
      <HealthLine />
    </>,
    { owner: testOwner(), auth: ownerAuth, language },
  );
}

/** Returns the parts of the line, and those that are green. */
async function healthLine(name = "Health of the site") {
  const region = await screen.findByRole("region", { name });
  const text = region.querySelector("p")!;
  return {
    parts: text.textContent.split("\u00a0· , "),
    green: [...text.querySelectorAll(".text-green")].map((part) => part.textContent),
  };
}

it("A-health-line: one line says what is proved and where, with proved items in green", async () => {
  answer(healthySite);
  const parts = [
    "Last backup just now in s3 copies.example/alvor/",
    "restored as a test 9 hours ago",
    "41 GB free on the disk",
    "last mail delivered 2 days ago",
    "certificate until 12 February 2027",
  ];
  expect(await healthLine()).toEqual({ parts: [...parts, "version 1.2.0"], green: parts });
  expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  expect(screen.queryByText(/ATELIE_BACKUP_URL/)).not.toBeInTheDocument();
});

it("A-health-line: the line is also in Portuguese", async () => {
  answer(healthySite, "pt");
  expect((await healthLine("Estado do site")).parts).toEqual([
    "Última cópia de segurança agora mesmo em s3 copies.example/alvor/",
    "reposta para teste há 9 horas",
    "41 GB livres no disco",
    "último e-mail entregue há 2 dias",
    "certificado até 12 de fevereiro de 2027",
    "versão 1.2.0",
  ]);
});

it("A-health-line: an item that is not proved is not green", async () => {
  answer({
    ...healthySite,
    backup: {
      ...healthySite.backup,
      proved: false,
      last_at: null,
      proof_at: null,
      proven_restore_point: null,
    },
    disk: { proved: false, level: "low", free: 850_000_000, total: 100_000_000_000 },
    mail: { ...healthySite.mail, proved: false, delivered_at: null, waiting: 3, retried: 2 },
    certificate: null,
  });
  expect(await healthLine()).toEqual({
    parts: [
      "No backup yet",
      "850 MB free on the disk",
      "no mail delivered yet",
      "3 waiting",
      "2 failing",
      "version 1.2.0",
    ],
    green: [],
  });
});

it("A-health-line: the line says if files still have to be copied, or were missing in the proof", async () => {
  answer({
    ...healthySite,
    backup: { ...healthySite.backup, proved: false, waiting_files: 3, unproven_files: 7 },
  });
  const { parts, green } = await healthLine();
  expect(parts).toContain("files still to be copied: 3");
  expect(green).not.toContain("restored as a test 9 hours ago");
  await userEvent.click(screen.getByRole("button", { name: "Details" }));
  expect(screen.getByText(/Files that were not in the backup yet: 7\./)).toBeVisible();
});

it("A-health-same-disk: the line says that backups in the data folder are lost with the disk", async () => {
  answer({ ...healthySite, backup: { ...healthySite.backup, proved: false, same_disk: true } });
  expect((await healthLine()).green).not.toContain(
    "Last backup just now in s3 copies.example/alvor/",
  );
  expect(screen.getByText(/on the same disk as the site, so they die with it/)).toHaveTextContent(
    "ATELIE_BACKUP_URL",
  );
  await userEvent.click(screen.getByRole("button", { name: "Details" }));
  expect(screen.getByText(/^Not proved/)).toHaveTextContent(
    "Not proved, because it dies with the disk.",
  );
});

it("A-health-details: the details open on request and state in words what is green in the line", async () => {
  answer(healthySite);
  const button = await screen.findByRole("button", { name: "Details" });
  expect(button).toHaveAttribute("aria-expanded", "false");
  expect(screen.getByText("Restore test")).not.toBeVisible();
  await userEvent.click(button);
  expect(button).toHaveAttribute("aria-expanded", "true");
  expect(screen.getByText("Restore test")).toBeVisible();
  const details = within(screen.getByRole("region", { name: "Health of the site" }));
  expect(details.getAllByText("Proved.")).toHaveLength(4);
  expect(details.getByText(/Given up in the last 30 days: 0/)).toBeVisible();
  await userEvent.click(button);
  expect(screen.getByText("Restore test")).not.toBeVisible();
});

const release = {
  newer: { version: "1.3.0", date: "2026-12-01", notes: "https://example.com/1.3.0" },
  read_at: "2026-11-23T12:00:00Z",
  failing_since: null,
};

it.each([
  [
    "en",
    /Version 1\.3\.0 of 1 December 2026 can be had; this site runs 1\.2\.0\..*make a backup/,
    "What has changed",
  ],
  [
    "pt",
    /Já existe a versão 1\.3\.0, de 1 de dezembro de 2026; este site usa a 1\.2\.0\..*cópia de segurança/,
    "O que mudou",
  ],
] as const)(
  "A-health-release: a newer release is shown with what the owner can do (%s)",
  async (language, text, notes) => {
    answer({ ...healthySite, release }, language);
    expect(await screen.findByText(text)).toBeInTheDocument();
    expect(screen.getByRole("link", { name: notes })).toHaveAttribute(
      "href",
      "https://example.com/1.3.0",
    );
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  },
);

it("A-health-release: a release that is not newer is mentioned only in the details", async () => {
  answer({ ...healthySite, release: { ...release, newer: null } });
  await healthLine();
  expect(screen.queryByText(/can be had/)).not.toBeInTheDocument();
  await userEvent.click(screen.getByRole("button", { name: "Details" }));
  expect(screen.getByText(/On 23 November 2026, \d\d:00 there was no newer one\./)).toBeVisible();
});

it("A-health-release: a release file that cannot be read is mentioned in the details, without an alert", async () => {
  answer({
    ...healthySite,
    release: { newer: null, read_at: null, failing_since: "2026-11-22T04:00:00Z" },
  });
  await healthLine();
  await userEvent.click(screen.getByRole("button", { name: "Details" }));
  expect(screen.getByText(/Whether there is a newer one could not be read\./)).toBeVisible();
  expect(screen.queryByRole("alert")).not.toBeInTheDocument();
});

it("A-health-release: the URL of release notes is a link only if it is https", async () => {
  answer({
    ...healthySite,
    release: { ...release, newer: { ...release.newer, notes: "javascript:alert(1)" } },
  });
  expect(await screen.findByText(/can be had/)).toBeInTheDocument();
  expect(screen.queryByRole("link")).not.toBeInTheDocument();
});

const problems: [Problem, RegExp][] = [
  [{ code: "backup_off", since: null, cause: "" }, /Backups are turned off.*ATELIE_BACKUP_URL/],
  [
    { code: "backup_failing", since: "2026-11-23T09:00:00Z", cause: "the bucket is away" },
    /failing since 23 November 2026, \d\d:00\..*atelie backup status.*Cause: the bucket is away/,
  ],
  [{ code: "backup_stale", since: null, cause: "" }, /no backup of the site yet/],
  [
    { code: "backup_stale", since: "2026-11-21T12:00:00Z", cause: "" },
    /newest backup is of 21 November 2026/,
  ],
  [
    { code: "proof_failed", since: null, cause: "blobs/ab/cd/1 differs" },
    /restore test.*failed.*atelie backup verify.*Cause: blobs\/ab\/cd\/1 differs/,
  ],
  [
    { code: "proof_incomplete", since: "2026-11-23T04:10:00Z", cause: "there is no room" },
    /Since 23 November 2026, \d\d:10 .*could not be restored.*atelie backup verify.*Cause: there is no room/,
  ],
  [{ code: "proof_stale", since: null, cause: "" }, /No backup was restored as a test yet/],
  [
    { code: "proof_stale", since: "2026-11-19T12:00:00Z", cause: "" },
    /restore test was on 19 November 2026/,
  ],
  [
    { code: "mail_failing", since: "2026-11-23T09:00:00Z", cause: "535 wrong password" },
    /Mails have been failing since.*Cause: 535 wrong password/,
  ],
  [
    { code: "mail_waiting", since: "2026-11-23T09:00:00Z", cause: "" },
    /A mail has been waiting since/,
  ],
  [
    { code: "certificate_ending", since: null, cause: "alvor.example" },
    /certificate of alvor\.example ends on 12 February 2027.*ports 80 and 443/,
  ],
  [
    { code: "certificate_missing", since: "2026-11-23T09:00:00Z", cause: "www.alvor.example" },
    /www\.alvor\.example has no certificate.*ports 80 and 443/,
  ],
];

it.each(problems)("A-health-problem: $code is a sentence with the way out", async (one, text) => {
  answer({ ...healthySite, problems: [one] });
  const alert = await screen.findByRole("alert");
  expect(alert).toHaveTextContent("This needs attention");
  expect(alert).toHaveTextContent(text);
  expect(alert).not.toHaveTextContent(/[{}]/);
});

/** What each sentence of the problems says in Portuguese, in their order. */
const sentencesPt = [
  /cópias de segurança estão desligadas.*ATELIE_BACKUP_URL/,
  /cópias de segurança falham desde 23 de novembro de 2026.*atelie backup status.*Causa: the bucket is away/,
  /Ainda não há nenhuma cópia de segurança do site/,
  /cópia de segurança mais recente é de 21 de novembro de 2026/,
  /teste de reposição da cópia mais recente falhou.*atelie backup verify.*Causa: blobs\/ab\/cd\/1 differs/,
  /Desde 23 de novembro de 2026.* não foi possível repor a cópia mais recente.*Causa: there is no room/,
  /Ainda nenhuma cópia foi reposta para teste/,
  /último teste de reposição bem-sucedido foi em 19 de novembro de 2026/,
  /e-mails falham desde 23 de novembro de 2026.*Causa: 535 wrong password/,
  /e-mail em espera desde 23 de novembro de 2026/,
  /certificado de alvor\.example termina em 12 de fevereiro de 2027.*portas 80 e 443/,
  /www\.alvor\.example não tem certificado.*portas 80 e 443/,
];

it.each(problems.map(([problem], n) => [problem, sentencesPt[n]!] as const))(
  "A-health-problem: $code is a sentence with the way out in Portuguese",
  async (one, text) => {
    expect(sentencesPt).toHaveLength(problems.length);
    answer({ ...healthySite, problems: [one] }, "pt");
    const alert = await screen.findByRole("alert");
    expect(alert).toHaveTextContent("Isto precisa de atenção");
    expect(alert).toHaveTextContent(text);
    expect(alert).not.toHaveTextContent(/[{}]/);
  },
);

it("A-health-problem: a low disk is left to the notice that says it already", async () => {
  answer({ ...healthySite, problems: [{ code: "disk_low", since: null, cause: "" }] });
  await healthLine();
  expect(screen.queryByRole("alert")).not.toBeInTheDocument();
});

it("A-health-line: a failure to fetch the health is shown, but not as an error alert", async () => {
  server.use(
    http.post(`${testBoot.apiUrl}/rest/v1/rpc/get_site_health`, () =>
      HttpResponse.json({ code: "XX000", message: "no" }, { status: 500 }),
    ),
  );
  renderApp(
    <>
      <HealthProblems />
      <HealthLine />
    </>,
    { owner: testOwner(), auth: ownerAuth },
  );
  expect(await screen.findByText(/state of the site could not be read/)).toBeInTheDocument();
  expect(screen.queryByRole("alert")).not.toBeInTheDocument();
});
