import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { AuthApiError, type Session } from "@supabase/supabase-js";
import { beforeEach, expect, it, vi } from "vitest";
import { AccountPage } from "@/features/session/components/account/account-page";
import * as backend from "@/lib/backend";
import { answerRequests } from "@/test/answer-requests";
import { renderApp } from "@/test/render";
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
const fine = { data: {}, error: null };

function fakeClient() {
  const auth = {
    getSession: vi.fn(async () => ({ data: { session }, error: null })),
    getUser: vi.fn(async () => ({ data: { user }, error: null })),
    updateUser: vi.fn(async (): Promise<object> => fine),
    reauthenticate: vi.fn(async (): Promise<object> => fine),
    mfa: { unenroll: vi.fn(async (): Promise<object> => fine) },
    refreshSession: vi.fn(async (): Promise<object> => fine),
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

const show = () =>
  renderApp(<AccountPage />, {
    auth: { session, user: session.user, role: "admin" },
    owner: { auth: client } as never,
  });
const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

const mine = {
  id: "s",
  created_at: "2026-11-21T09:00:00Z",
  refreshed_at: "2026-11-21T09:00:00Z",
  user_agent: "",
  ip: "192.0.2.1",
  current: true,
};
const answers = (path: string) =>
  path.endsWith("/user/sessions") ? [mine] : { total: 10, remaining: 7 };

it("sends a code and asks for it where an old session needs one", async () => {
  answerRequests(({ path }) => ({ json: answers(path) }));
  client.updateUser.mockResolvedValueOnce(
    refused("Password update requires reauthentication", 400, "reauthentication_needed"),
  );
  show();
  await userEvent.type(screen.getByLabelText("New password"), "four swallows{Enter}");
  const code = await screen.findByLabelText("Code from the mail");
  expect(code).toHaveFocus();
  expect(client.reauthenticate).toHaveBeenCalledOnce();

  client.updateUser.mockResolvedValueOnce(
    refused("Nonce has expired or is invalid", 422, "reauthentication_not_valid"),
  );
  await userEvent.type(code, "111111{Enter}");
  expect(await screen.findByRole("alert")).toHaveTextContent("This code is not right");
  await userEvent.clear(code);
  await userEvent.type(code, "123456{Enter}");
  await vi.waitFor(() => expect(toasts).toMatchObject([{ title: "Password changed" }]));
  expect(client.updateUser).toHaveBeenLastCalledWith({
    password: "four swallows",
    nonce: "123456",
  });
  expect(screen.queryByLabelText("Code from the mail")).not.toBeInTheDocument();
});

it("says when another email counts at once, as where no confirmation is asked for", async () => {
  answerRequests(({ path }) => ({ json: answers(path) }));
  client.updateUser.mockResolvedValueOnce({ data: { user: { email: "b@x.pt" } }, error: null });
  show();
  await userEvent.type(screen.getByLabelText("New email"), "b@x.pt{Enter}");
  await vi.waitFor(() => expect(toasts).toMatchObject([{ title: "Email changed" }]));
  expect(screen.queryByText(/Two mails are on their way/)).not.toBeInTheDocument();
});

it("says why a factor cannot be removed", async () => {
  answerRequests(({ path }) => ({ json: answers(path) }));
  client.mfa.unenroll.mockResolvedValue(
    refused("AAL2 required to unenroll verified factor", 422, "insufficient_aal"),
  );
  show();
  await userEvent.click(
    await screen.findByRole("button", { name: "Remove Authenticator app, App 1" }),
  );
  expect(await screen.findByText("Recovery codes left: 7")).toBeInTheDocument();
  await press("Remove");
  await vi.waitFor(() =>
    expect(toasts).toMatchObject([
      { title: "Could not remove it", description: "The second step comes first." },
    ]),
  );
  expect(client.refreshSession).not.toHaveBeenCalled();
  expect(screen.getByText("Authenticator app, App 1")).toBeVisible();
});

it("offers another try when the sessions cannot be read", async () => {
  let broken = true;
  answerRequests(({ path }) =>
    broken && path.endsWith("/user/sessions")
      ? { status: 500, json: { error_code: "unexpected_failure", msg: "no" } }
      : { json: answers(path) },
  );
  show();
  expect(await screen.findByText("This page could not be loaded.")).toBeVisible();
  broken = false;
  await press("Try again");
  expect(await screen.findByText("Unknown device")).toBeVisible();
  expect(screen.getByText(/from 192\.0\.2\.1/)).toBeVisible();
});
