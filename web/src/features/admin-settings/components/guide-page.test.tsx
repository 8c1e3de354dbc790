import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { Route, Routes } from "react-router";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { GuideChecklist } from "@/features/admin-settings/components/guide-checklist";
import { GuidePage } from "@/features/admin-settings/components/guide-page";
import type { Language } from "@/lib/boot";
import { attachToastArea, type QueuedToast } from "@/lib/toast";
import type { GuideState, SettingsResponse } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";

type Body = {
  version?: string;
  settings?: { site?: Record<string, unknown> };
  guide?: GuideState;
};

const server = setupServer();
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

let answer: SettingsResponse;
let works: number;
let sent: Body[];
let saveFails: boolean;
let toasts: QueuedToast[];
beforeAll(() => attachToastArea((toast) => toasts.push(toast)));

beforeEach(() => {
  localStorage.clear();
  sent = [];
  toasts = [];
  works = 0;
  saveFails = false;
  answer = {
    version: "1",
    settings: {
      site: {
        ...testBoot.site,
        instagram: "",
        facebook: "",
        whatsapp: "",
        email: "",
      },
      noticeEmail: [],
      noticeWebhook: "",
      noticeLanguage: "",
      thanksEnabled: false,
    },
    seed: [
      "site.name",
      "site.texts.en.about.title",
      "site.texts.en.testimonials.trustedBy",
      "site.texts.pt.testimonials.trustedBy",
    ],
    guide: "",
    page: testBoot.site,
  };
});

/** Answers the requests of the guide. A changed text no longer counts as a seed value. */
function answerGuide() {
  server.use(
    http.post(`${testBoot.apiUrl}/rest/v1/rpc/get_site_settings`, () => HttpResponse.json(answer)),
    http.post(`${testBoot.apiUrl}/rest/v1/rpc/save_site_settings`, async ({ request }) => {
      const body = (await request.json()) as Body;
      sent.push(body);
      if (saveFails) return HttpResponse.json({ code: "PT500", message: "No" }, { status: 500 });
      const site = body.settings?.site ?? {};
      answer = {
        ...answer,
        version: String(sent.length + 1),
        settings: {
          ...answer.settings,
          site: { ...answer.settings.site, ...(site as object), texts: answer.settings.site.texts },
        },
        seed: answer.seed.filter((key) => !(key.replace(/^site\./, "") in site)),
        guide: body.guide ?? answer.guide,
      };
      return HttpResponse.json(answer);
    }),
    http.head(
      `${testBoot.apiUrl}/rest/v1/products`,
      () => new HttpResponse(null, { headers: { "content-range": `*/${works}` } }),
    ),
  );
}

function renderGuide(path = "/admin/guide", language: Language = "en") {
  answerGuide();
  return renderApp(
    <main id="main" tabIndex={-1}>
      <Routes>
        <Route path="/admin" element={<GuideChecklist />} />
        <Route path="/admin/guide" element={<GuidePage />} />
      </Routes>
    </main>,
    { path, language, owner: testOwner(), auth: ownerAuth },
  );
}

const heading = (name: RegExp) => screen.findByRole("heading", { level: 2, name });
/** Waits until the heading of a step has the focus, which it gets after its text. */
async function focusedHeading(name: RegExp) {
  const found = await heading(name);
  await waitFor(() => expect(found).toHaveFocus());
}

it("A-guide-steps: begins with the first step that has seed values, and shows the current values", async () => {
  answer.seed = answer.seed.filter((key) => key !== "site.name");
  renderGuide();
  await heading(/Step 3 of 6\s*Texts about you/);
  expect(screen.getByLabelText("Heading")).toHaveValue("I paint for the places people live in");
  expect(screen.getByLabelText("Heading")).toHaveAccessibleDescription("Still the example");
  expect(screen.getByLabelText("Heading in Portuguese")).not.toHaveAccessibleDescription();
  const steps = within(screen.getByRole("navigation", { name: "First steps" }));
  for (const name of [
    "Name of the site , Yours",
    "Portrait , Empty",
    "Texts about you , Example",
    "Line above the works , Example",
    "Ways to reach you , Empty",
    "First works , Empty",
  ])
    expect(
      steps.getByRole("link", { name: new RegExp(name.replace(" ,", "\\s*,")) }),
    ).toBeVisible();
  expect(steps.getByRole("link", { current: "step" })).toHaveTextContent("Texts about you");
});

it("A-guide-save: saves each step separately; a step can be skipped and opened again", async () => {
  // A value that was saved before the rule existed does not block other steps.
  answer.settings.site.whatsapp = "912 345 678";
  const user = userEvent.setup();
  renderGuide();
  await heading(/Step 1 of 6/);
  const name = screen.getByLabelText(/Name of the site/);
  await user.clear(name);
  await user.click(screen.getByRole("button", { name: "Save and continue" }));
  expect(await screen.findByText("The site needs a name")).toBeVisible();
  await user.type(name, "Casa da Ana");
  await user.click(screen.getByRole("button", { name: "Save and continue" }));
  await focusedHeading(/Step 2 of 6\s*Portrait/);
  expect(sent).toEqual([{ version: "1", settings: { site: { name: "Casa da Ana" } } }]);
  expect(screen.getByText("Visitors see nothing here yet.")).toBeVisible();
  await user.click(screen.getByRole("button", { name: "Skip for now" }));
  await focusedHeading(/Step 3 of 6/);
  for (const step of [2, 1]) {
    await user.click(screen.getByRole("link", { name: "Back" }));
    await heading(new RegExp(`Step ${step} of 6`));
  }
  expect(screen.getByLabelText(/Name of the site/)).toHaveValue("Casa da Ana");
  expect(screen.getByText("This is your own.")).toBeVisible();
  expect(screen.queryByRole("link", { name: "Back" })).not.toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Next" }));
  await heading(/Step 2 of 6/);
  expect(sent).toHaveLength(1);
});

it("A-guide-save: asks before a step with unsaved texts is left", async () => {
  const user = userEvent.setup();
  renderGuide("/admin/guide?step=trustedBy");
  await user.type(await screen.findByLabelText("Line above the works"), "!");
  expect(screen.getByRole("button", { name: "Save and continue" })).toBeVisible();
  await user.click(screen.getByRole("link", { name: "Back" }));
  await user.click(await screen.findByRole("button", { name: "Leave without saving" }));
  await heading(/Step 3 of 6/);
  expect(sent).toEqual([]);
});

it.each([
  [0, false, "No works in the gallery yet."],
  [22, true, "All works in the gallery are examples. Add your own and delete these."],
  [3, false, "Works on your site: 3"],
])(
  "A-guide-steps: shows the state of the works (%s), with a link to them",
  async (count, demo, text) => {
    works = count;
    if (demo) answer.seed.push("works");
    renderGuide("/admin/guide?step=works");
    expect(await screen.findByText(text)).toBeVisible();
    expect(screen.getByRole("link", { name: "Go to Products" })).toHaveAttribute(
      "href",
      "/admin/products",
    );
  },
);

it("A-guide-end: the last step names the open steps and ends the guide; the overview then omits it", async () => {
  renderGuide("/admin/guide?step=works");
  expect(
    await screen.findByText(
      "Still an example: Name of the site, Texts about you, Line above the works.",
    ),
  ).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Finish" }));
  await waitFor(() => expect(screen.queryByRole("heading")).not.toBeInTheDocument());
  expect(sent).toEqual([{ guide: "done" }]);
  expect(toasts).toMatchObject([
    {
      title: "The guide is finished",
      description: "Everything can be changed under Settings and Products.",
    },
  ]);
  expect(screen.getByRole("main")).toHaveFocus();
  expect(screen.queryByText("Not in your own words yet")).not.toBeInTheDocument();
});

it("A-guide-end: one button dismisses the guide on any step", async () => {
  renderGuide();
  await heading(/Step 1 of 6/);
  await userEvent.click(screen.getByRole("button", { name: "Dismiss the guide" }));
  await waitFor(() => expect(screen.queryByRole("heading")).not.toBeInTheDocument());
  expect(sent).toEqual([{ guide: "dismissed" }]);
  expect(toasts).toMatchObject([{ title: "The guide is dismissed" }]);
});

it("A-guide-end: the guide can be opened after it has ended", async () => {
  answer.guide = "done";
  renderGuide();
  await heading(/Step 1 of 6/);
  expect(screen.queryByRole("button", { name: "Dismiss the guide" })).not.toBeInTheDocument();
});

it("A-guide-list: the overview lists the steps that have seed values, with a link to each", async () => {
  renderGuide("/admin", "pt");
  const list = await screen.findByRole("region", { name: "Ainda não está nas suas palavras" });
  const links = within(list).getAllByRole("link");
  expect(links.map((link) => [link.textContent, link.getAttribute("href")])).toEqual([
    ["Nome do site Alvor", "/admin/guide?step=name&lang=pt"],
    ["Textos sobre si Pinto para os lugares onde se vive", "/admin/guide?step=texts&lang=pt"],
    [
      "Linha por cima das obras A confiança de mais de 500 clientes",
      "/admin/guide?step=trustedBy&lang=pt",
    ],
    ["Continuar o guia", "/admin/guide?step=name&lang=pt"],
  ]);
});

it("A-guide-demo: the list also names the demo's portrait, links and works", async () => {
  answer.seed = ["site.portrait", "site.email", "works"];
  answer.settings.site = { ...testBoot.site, portrait: "/demo.jpg" };
  renderGuide("/admin");
  const list = await screen.findByRole("region");
  expect(
    within(list)
      .getAllByRole("listitem")
      .map((item) => item.textContent.trim()),
  ).toEqual(["Portrait", "Ways to reach you", "First works"]);
});

it("A-guide-list: one press dismisses the list; if that fails, the list stays", async () => {
  saveFails = true;
  renderGuide("/admin");
  const dismiss = await screen.findByRole("button", { name: "Dismiss the guide" });
  await userEvent.click(dismiss);
  await waitFor(() => expect(sent).toHaveLength(1));
  await waitFor(() => expect(dismiss).not.toHaveAttribute("aria-busy"));
  expect(screen.getByRole("region")).toBeVisible();
  expect(toasts).toMatchObject([
    { title: "This could not be saved.", description: "No", destructive: true },
  ]);
  saveFails = false;
  await userEvent.click(dismiss);
  await waitFor(() => expect(screen.queryByRole("region")).not.toBeInTheDocument());
  expect(screen.getByRole("main")).toHaveFocus();
});

it.each([
  ["done", undefined],
  ["dismissed", undefined],
  ["", []],
  // The portrait's description and the seed's date do not count as examples.
  ["", ["site.texts.en.about.portraitAlt"]],
] as const)(
  "A-guide-list: the list is hidden for the guide state %j and the seed values %j",
  async (guide, seed) => {
    answer.guide = guide;
    if (seed) answer.seed = [...seed];
    const { queryClient } = renderGuide("/admin");
    await waitFor(() => expect(queryClient.isFetching()).toBe(0));
    await waitFor(() => expect(queryClient.getQueryCache().getAll()).toHaveLength(1));
    expect(queryClient.getQueryCache().getAll()[0]!.state.status).toBe("success");
    expect(screen.queryByRole("region")).not.toBeInTheDocument();
  },
);
