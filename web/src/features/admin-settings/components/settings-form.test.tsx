import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { SettingsForm } from "@/features/admin-settings/components/settings-form";
import { NameField, TextFields } from "@/features/admin-settings/components/site-fields";
import { draftName, loadDraft } from "@/lib/drafts";
import type { SettingsResponse } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const draft = draftName("owner", "settings");

/** The response of the server with the given version and names. */
function response(version: string, name: string, title: string): SettingsResponse {
  const { texts } = testBoot.site;
  const site = {
    ...testBoot.site,
    name,
    texts: { ...texts, en: { ...texts.en, "about.title": title } },
  };
  return {
    version,
    settings: {
      site,
      noticeEmail: [],
      noticeWebhook: "",
      noticeLanguage: "",
      thanksEnabled: false,
    },
    seed: [],
    guide: "done",
    page: site,
  };
}

const server = setupServer();

/** Responds to the saves with `responses`, in their order, after `release` was called. `sent` collects the bodies of the saves. */
function holdSaves(responses: SettingsResponse[]) {
  const sent: unknown[] = [];
  let release = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    release = resolve;
  });
  server.use(
    http.post(`${testBoot.apiUrl}/rest/v1/rpc/save_site_settings`, async ({ request }) => {
      sent.push(await request.json());
      await mayAnswer;
      return HttpResponse.json(responses[sent.length - 1]);
    }),
  );
  return { sent, release };
}

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => localStorage.clear());
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

it("A-draft-1: what is typed while a save runs stays in the form, as unsaved changes of the saved settings", async () => {
  const { sent, release } = holdSaves([
    response("2", "Casa da Ana", "Walls"),
    response("3", "Casa da Ana e Rui", "Walls, mostly"),
  ]);
  const user = userEvent.setup();
  const toasts = collectToasts();
  const onDone = vi.fn();
  renderApp(
    <SettingsForm
      loaded={response("1", "Casa", "Walls")}
      draftName={draft}
      privacySeed={() => ""}
      onReload={async () => undefined}
      onDone={onDone}
    >
      {(_, { hasChanges, saving }) => (
        <>
          <NameField />
          <TextFields rows={{ title: 0, trustedBy: 0 }} />
          <button type="submit">{saving ? "Saving" : hasChanges ? "Save" : "Saved"}</button>
        </>
      )}
    </SettingsForm>,
    { owner: testOwner(), auth: ownerAuth },
  );
  const name = screen.getByLabelText(/Name of the site/);
  const heading = screen.getByLabelText("Heading");
  const line = screen.getByLabelText("Line above the works");
  await user.type(name, " da Ana");
  await user.type(line, " "); // a save removes it
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(sent).toHaveLength(1));
  await user.type(name, " e Rui");
  await user.type(heading, ", mostly");
  release();
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Settings saved" }]));
  await screen.findByRole("button", { name: "Save" });
  expect(name).toHaveValue("Casa da Ana e Rui");
  expect(heading).toHaveValue("Walls, mostly");
  expect(line).toHaveValue(testBoot.site.texts.en["testimonials.trustedBy"]);
  expect(onDone).not.toHaveBeenCalled();
  await waitFor(() =>
    expect(loadDraft(draft)).toMatchObject({
      base: { version: "2" },
      values: { name: "Casa da Ana e Rui", texts: { en: { title: "Walls, mostly" } } },
    }),
  );

  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  await screen.findByRole("button", { name: "Saved" });
  expect(sent).toEqual([
    { version: "1", settings: { site: { name: "Casa da Ana" } } },
    {
      version: "2",
      settings: {
        site: { name: "Casa da Ana e Rui", texts: { en: { "about.title": "Walls, mostly" } } },
      },
    },
  ]);
  await waitFor(() => expect(loadDraft(draft)).toBeUndefined());
});

it("A-draft-1: a portrait that is chosen while a save runs stays in the form, unsaved", async () => {
  const saved = response("3", "Casa da Ana", "Walls");
  saved.settings.site = { ...saved.settings.site, portrait: "/ana.jpg" };
  const { sent, release } = holdSaves([response("2", "Casa da Ana", "Walls"), saved]);
  const user = userEvent.setup();
  const toasts = collectToasts();
  const onDone = vi.fn();
  renderApp(
    <SettingsForm
      loaded={response("1", "Casa", "Walls")}
      draftName={draft}
      privacySeed={() => ""}
      onReload={async () => undefined}
      onDone={onDone}
    >
      {({ portrait }, { hasChanges, saving }) => (
        <>
          <NameField />
          <button type="button" onClick={() => portrait.reset(["/ana.jpg"])}>
            Choose a portrait
          </button>
          <button type="submit">{saving ? "Saving" : hasChanges ? "Save" : "Saved"}</button>
        </>
      )}
    </SettingsForm>,
    { owner: testOwner(), auth: ownerAuth },
  );
  await user.type(screen.getByLabelText(/Name of the site/), " da Ana");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(sent).toHaveLength(1));
  await user.click(screen.getByRole("button", { name: "Choose a portrait" }));
  release();
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Settings saved" }]));
  expect(onDone).not.toHaveBeenCalled();
  await user.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
  expect(sent[1]).toEqual({ version: "2", settings: { site: { portrait: "/ana.jpg" } } });
});
