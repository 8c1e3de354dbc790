import { useState } from "react";
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { AuthApiError, type Session } from "@supabase/supabase-js";
import { beforeEach, expect, it, vi } from "vitest";
import { AccountPage } from "@/features/session/components/account/account-page";
import { AuthContextProvider, type Auth } from "@/lib/auth";
import * as backend from "@/lib/backend";
import { answerRequests } from "@/test/answer-requests";
import { renderApp, visitorAuth } from "@/test/render";
import { collectToasts } from "@/test/toasts";

vi.mock("@/lib/backend", async (original) => ({
  ...(await original<typeof backend>()),
  ownerBackend: vi.fn(),
}));

const factor = { id: "f", factor_type: "totp", status: "verified", friendly_name: "App 1" };
const user = { id: "1", email: "ola@alvor.example", factors: [factor] };
const session = { access_token: "first", user } as unknown as Session;
const refused = (message: string, status: number, code: string) => ({
  data: null,
  error: new AuthApiError(message, status, code),
});
const noActivity = { data: { entries: [], next: "" }, error: null };
const success = { data: {}, error: null };

function fakeClient() {
  const auth = {
    getSession: vi.fn(async () => ({ data: { session }, error: null })),
    getUser: vi.fn(async () => ({ data: { user }, error: null })),
    updateUser: vi.fn(async (): Promise<object> => success),
    reauthenticate: vi.fn(async (): Promise<object> => success),
    mfa: {
      unenroll: vi.fn(async (): Promise<object> => success),
      listFactors: vi.fn(async (): Promise<object> => success),
      enroll: vi.fn(async (): Promise<object> => success),
      challenge: vi.fn(async (): Promise<object> => ({ data: { id: "challenge" }, error: null })),
      verify: vi.fn(async (): Promise<object> => success),
    },
    refreshSession: vi.fn(async (): Promise<object> => success),
  };
  vi.mocked(backend.ownerBackend).mockResolvedValue({ auth } as never);
  return auth;
}
let client: ReturnType<typeof fakeClient>;
let toasts: ReturnType<typeof collectToasts>;
beforeEach(() => {
  toasts = collectToasts();
  client = fakeClient();
});

const signedIn = { session, user: session.user, role: "admin" } satisfies Partial<Auth>;
const fakeOwner = () =>
  ({ auth: client, rpc: () => ({ abortSignal: async () => noActivity }) }) as never;
const renderPage = (more: { mustEnrol?: boolean } = {}) =>
  renderApp(<AccountPage />, { auth: { ...signedIn, ...more }, owner: fakeOwner() });

type TwoStates = { first: Partial<Auth>; second: Partial<Auth> };

/** The page in the state `first`, and a button that replaces it by the state `second`. */
function PageWithTwoStates({ first, second }: TwoStates) {
  const [auth, setAuth] = useState(first);
  return (
    <AuthContextProvider value={{ ...visitorAuth, ...auth }}>
      <button onClick={() => setAuth(second)}>Second state</button>
      <AccountPage />
    </AuthContextProvider>
  );
}
const renderPageWithTwoStates = (states: TwoStates) =>
  renderApp(<PageWithTwoStates {...states} />, { owner: fakeOwner() });
const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

const mine = {
  id: "s",
  created_at: "2026-11-21T09:00:00Z",
  refreshed_at: "2026-11-21T09:00:00Z",
  device: {},
  ip: "192.0.2.1",
  current: true,
};
const answers = (path: string) =>
  path.endsWith("/user/sessions") ? [mine] : { total: 10, remaining: 7 };

const reauthenticationNeeded = () =>
  refused("This change requires reauthentication", 400, "reauthentication_needed");

/** Answers the page's requests. `judge` decides about the credentials of a reauthentication. */
function answerReauthentication(judge: (proof: Record<string, string>) => object | undefined) {
  const shown: unknown[] = [];
  answerRequests(({ path, body }) => {
    if (!path.endsWith("/reauthenticate")) return { json: answers(path) };
    shown.push(body);
    const refusal = judge(body as Record<string, string>);
    return refusal ? { status: 400, json: refusal } : { json: {} };
  });
  return shown;
}
const dialog = () => screen.findByRole("dialog", { name: "Confirm it is you" });

it("asks for the password if the sign-in is old, and then makes the change", async () => {
  const shown = answerReauthentication(({ current_password }) =>
    current_password === "right"
      ? undefined
      : { error_code: "current_password_mismatch", msg: "Current password is incorrect" },
  );
  client.updateUser.mockResolvedValueOnce(reauthenticationNeeded());
  renderPage();
  await userEvent.type(screen.getByLabelText("New password"), "four swallows{Enter}");
  const dialogContent = within(await dialog());
  const password = dialogContent.getByLabelText("Your password");
  await waitFor(() => expect(password).toHaveFocus());
  await userEvent.keyboard("{Enter}");
  expect(await dialogContent.findByText("Please enter your password")).toBeVisible();
  expect(shown).toEqual([]);
  await userEvent.type(password, "wrong{Enter}");
  expect(await dialogContent.findByRole("alert")).toHaveTextContent(
    "This could not be confirmedThis is not your password.",
  );
  await waitFor(() => expect(password).toHaveFocus());
  await userEvent.clear(password);
  await userEvent.type(password, "right{Enter}");
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Password changed" }]));
  await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
  expect(shown).toEqual([{ current_password: "wrong" }, { current_password: "right" }]);
  expect(client.updateUser.mock.calls).toEqual([
    [{ password: "four swallows" }],
    [{ password: "four swallows" }],
  ]);
});

it("A-confirm-5: accepts a mailed code instead of the password, also for a change of the email", async () => {
  const shown = answerReauthentication(() => undefined);
  client.updateUser.mockResolvedValueOnce(reauthenticationNeeded());
  client.updateUser.mockResolvedValueOnce({ data: { user: { email: "b@x.pt" } }, error: null });
  renderPage();
  await userEvent.type(screen.getByLabelText("New email"), "b@x.pt{Enter}");
  const dialogContent = within(await dialog());
  await userEvent.click(dialogContent.getByRole("button", { name: "Send a code by mail instead" }));
  const code = await dialogContent.findByLabelText("Code from the mail");
  await waitFor(() => expect(code).toHaveFocus());
  expect(dialogContent.getByText("The code went to ola@alvor.example.")).toBeVisible();
  expect(client.reauthenticate).toHaveBeenCalledOnce();
  await userEvent.type(code, "123 456{Enter}");
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Email changed" }]));
  expect(shown).toEqual([{ nonce: "123456" }]);
});

it("changes nothing when the dialog is closed", async () => {
  answerReauthentication(() => undefined);
  client.updateUser.mockResolvedValueOnce(reauthenticationNeeded());
  renderPage();
  await userEvent.type(screen.getByLabelText("New password"), "four swallows{Enter}");
  await dialog();
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
  expect(client.updateUser).toHaveBeenCalledOnce();
  expect(screen.getByLabelText("New password")).toHaveValue("four swallows");
  expect(await screen.findByRole("button", { name: "Change password" })).toBeEnabled();
});

it("asks before an authenticator app is set up", async () => {
  answerReauthentication(() => undefined);
  client.mfa.listFactors.mockResolvedValue({ data: { all: [factor] }, error: null });
  client.mfa.enroll.mockResolvedValueOnce(reauthenticationNeeded());
  client.mfa.enroll.mockResolvedValueOnce({
    data: { id: "n", totp: { qr_code: "data:,", secret: "ABCD" } },
    error: null,
  });
  renderPage();
  await userEvent.click(await screen.findByRole("button", { name: "Add another app" }));
  const dialogContent = within(await dialog());
  expect(screen.getAllByRole("dialog")).toHaveLength(1);
  await userEvent.type(dialogContent.getByLabelText("Your password"), "right{Enter}");
  expect(await screen.findByText("ABCD")).toBeVisible();
});

it("A-confirm-5: asks before the codes are renewed and before a factor is removed", async () => {
  let isFresh = false;
  const sent = answerRequests(({ path, method }) => {
    if (path.endsWith("/reauthenticate")) isFresh = true;
    if (method !== "POST" || path.endsWith("/reauthenticate") || isFresh)
      return { json: method === "POST" ? { codes: ["abcd-efgh"] } : answers(path) };
    return { status: 400, json: { error_code: "reauthentication_needed", msg: "old" } };
  });
  client.mfa.unenroll.mockResolvedValueOnce(reauthenticationNeeded());
  renderPage();
  const remove = () =>
    userEvent.click(screen.getByRole("button", { name: "Remove Authenticator app, App 1" }));
  const confirm = async () => {
    const dialogContent = within(await dialog());
    expect(screen.getAllByRole("dialog")).toHaveLength(1);
    expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
    await userEvent.type(dialogContent.getByLabelText("Your password"), "right{Enter}");
  };
  await userEvent.click(await screen.findByRole("button", { name: "Make new recovery codes" }));
  const question = within(screen.getByRole("alertdialog"));
  await userEvent.click(question.getByRole("button", { name: "Make new recovery codes" }));
  await confirm();
  expect(await screen.findByText("abcd-efgh")).toBeVisible();
  await press("I have kept them");

  await remove();
  await press("Remove");
  await dialog();
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
  expect(client.refreshSession).not.toHaveBeenCalled();
  expect(toasts).toEqual([]);

  client.mfa.unenroll.mockResolvedValueOnce(reauthenticationNeeded());
  await remove();
  await press("Remove");
  await confirm();
  await waitFor(() => expect(toasts).toMatchObject([{ title: "The second step is removed" }]));
  expect(client.mfa.unenroll).toHaveBeenCalledTimes(3);
  expect(sent.filter(({ path }) => path.endsWith("/reauthenticate"))).toHaveLength(2);
});

it("A-factor-1: shows an owner who must enrol a second factor that section first", async () => {
  answerRequests(({ path }) => ({ json: answers(path) }));
  renderPage({ mustEnrol: true });
  expect(screen.getByText(/This site asks its owners for a second step/)).toBeVisible();
  expect(screen.getAllByRole("heading", { level: 2 })[0]).toHaveTextContent("Second step");
});

it("A-acc-enrol: shows the recovery codes of the first factor, also if the site requires a second factor", async () => {
  answerRequests(({ path, method }) => ({
    json: method === "POST" ? { codes: ["abcd-efgh"] } : answers(path),
  }));
  client.getUser.mockResolvedValue({ data: { user: { ...user, factors: [] } }, error: null });
  client.mfa.listFactors.mockResolvedValue({ data: { all: [] }, error: null });
  client.mfa.enroll.mockResolvedValue({
    data: { id: "n", totp: { qr_code: "data:,", secret: "ABCD" } },
    error: null,
  });
  client.mfa.verify.mockImplementation(async () => {
    // The client reports the raised session before its call returns. The dialog hides the button from roles.
    fireEvent.click(screen.getByText("Second state"));
    return success;
  });
  renderPageWithTwoStates({
    first: { ...signedIn, mustEnrol: true },
    second: { ...signedIn, mustEnrol: false },
  });
  await userEvent.click(await screen.findByRole("button", { name: "Set up an authenticator app" }));
  await userEvent.type(await screen.findByLabelText("Six-digit code"), "123456{Enter}");
  expect(await screen.findByText("abcd-efgh")).toBeVisible();
});

it("A-acc-email: no longer asks for the mailed links when the new email counts", async () => {
  answerRequests(({ path }) => ({ json: answers(path) }));
  const requested = { data: { user: { new_email: "b@x.pt" } }, error: null };
  client.updateUser.mockResolvedValueOnce(requested);
  renderPageWithTwoStates({
    first: { ...signedIn, user: { ...session.user, new_email: "b@x.pt" } },
    second: { ...signedIn, user: { ...session.user, email: "b@x.pt" } },
  });
  const field = screen.getByLabelText("New email");
  await userEvent.type(field, "b@x.pt{Enter}");
  await waitFor(() => expect(field).toHaveValue(""));
  expect(screen.getByText(/Two mails are on their way/)).toBeVisible();
  await press("Second state");
  expect(screen.getByText("You sign in with b@x.pt.")).toBeVisible();
  expect(screen.queryByText(/Two mails are on their way/)).not.toBeInTheDocument();
});

it("shows a toast if another email takes effect immediately, without confirmation", async () => {
  answerRequests(({ path }) => ({ json: answers(path) }));
  client.updateUser.mockResolvedValueOnce({ data: { user: { email: "b@x.pt" } }, error: null });
  renderPage();
  await userEvent.type(screen.getByLabelText("New email"), "b@x.pt{Enter}");
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Email changed" }]));
  expect(screen.queryByText(/Two mails are on their way/)).not.toBeInTheDocument();
});

it("shows why a factor cannot be removed", async () => {
  answerRequests(({ path }) => ({ json: answers(path) }));
  client.mfa.unenroll.mockResolvedValue(
    refused("AAL2 required to unenroll verified factor", 422, "insufficient_aal"),
  );
  renderPage();
  await userEvent.click(
    await screen.findByRole("button", { name: "Remove Authenticator app, App 1" }),
  );
  expect(await screen.findByText("Recovery codes left: 7")).toBeInTheDocument();
  await press("Remove");
  await waitFor(() =>
    expect(toasts).toMatchObject([
      { title: "Could not remove it", description: "The second step comes first." },
    ]),
  );
  expect(client.refreshSession).not.toHaveBeenCalled();
  expect(screen.getByText("Authenticator app, App 1")).toBeVisible();
});

it("offers a retry when the sessions cannot be loaded", async () => {
  let broken = true;
  answerRequests(({ path }) =>
    broken && path.endsWith("/user/sessions")
      ? { status: 500, json: { error_code: "unexpected_failure", msg: "no" } }
      : { json: answers(path) },
  );
  renderPage();
  expect(await screen.findByText("This page could not be loaded.")).toBeVisible();
  broken = false;
  await press("Try again");
  expect(await screen.findByText("Unknown device")).toBeVisible();
  expect(screen.getByText(/from 192\.0\.2\.1/)).toBeVisible();
});
