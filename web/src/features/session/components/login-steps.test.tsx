import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { AuthApiError, AuthWeakPasswordError, type Session } from "@supabase/supabase-js";
import { Route, Routes, useLocation } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { LoginPage } from "@/features/session/components/login-page";
import type { Auth, SecondFactor } from "@/lib/auth";
import * as backend from "@/lib/backend";
import type { Language } from "@/lib/boot";
import { answerRequests } from "@/test/answer-requests";
import { renderApp } from "@/test/render";
import { collectToasts } from "@/test/toasts";

vi.mock("@/lib/backend", async (original) => ({
  ...(await original<typeof backend>()),
  ownerBackend: vi.fn(),
}));

const session = { access_token: "first", user: { id: "1", email: "ola@alvor.example" } } as Session;
const app: SecondFactor = { id: "app", type: "totp", name: "Easel", phone: "" };
const phone: SecondFactor = { id: "phone", type: "phone", name: "", phone: "351912000345" };
const signedIn = (pendingFactors: SecondFactor[] = []): Partial<Auth> => ({
  session,
  user: session.user,
  role: pendingFactors.length > 0 ? null : "admin",
  pendingFactors,
});
const wrongCode = new AuthApiError("Invalid TOTP code entered", 422, "mfa_verification_failed");
const success = { data: {}, error: null };

function fakeClient() {
  const auth = {
    mfa: {
      challenge: vi.fn(async () => ({ data: { id: "challenge" }, error: null })),
      verify: vi.fn(async (): Promise<{ error: Error | null }> => success),
    },
    getSession: vi.fn(async () => ({ data: { session }, error: null })),
    setSession: vi.fn(async () => success),
    signOut: vi.fn(async (): Promise<{ error: Error | null }> => success),
    updateUser: vi.fn(async (): Promise<{ error: Error | null }> => success),
    reauthenticate: vi.fn(async (): Promise<{ error: Error | null }> => success),
    resetPasswordForEmail: vi.fn(async (): Promise<{ error: Error | null }> => success),
  };
  vi.mocked(backend.ownerBackend).mockResolvedValue({ auth } as never);
  return auth;
}
let client: ReturnType<typeof fakeClient>;
let toasts: ReturnType<typeof collectToasts>;
beforeEach(() => {
  toasts = collectToasts();
  localStorage.clear();
  client = fakeClient();
});

function CurrentPath() {
  const { pathname, search } = useLocation();
  return <p>{`at ${pathname}${search}`}</p>;
}

function renderPage(auth: Partial<Auth>, path = "/admin/auth", language: Language = "en") {
  return renderApp(
    <>
      <CurrentPath />
      <Routes>
        <Route path="/admin/auth" element={<LoginPage />} />
        <Route path="*" element={null} />
      </Routes>
    </>,
    { path, auth, language },
  );
}

const heading = () => screen.getByRole("heading", { level: 1 });
const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

describe("second factor", () => {
  it("accepts a pasted code with a blank, and shows the welcome toast", async () => {
    renderPage(signedIn([app]));
    expect(heading()).toHaveTextContent("One more step");
    expect(screen.queryByLabelText("Where the code comes from")).not.toBeInTheDocument();
    const field = screen.getByLabelText("Six-digit code");
    await waitFor(() => expect(field).toHaveFocus());
    await userEvent.paste("123 456");
    await userEvent.keyboard("{Enter}");
    await waitFor(() => expect(toasts).toHaveLength(1));
    expect(toasts[0]).toMatchObject({ title: "Welcome back!" });
    const body = { factorId: "app", challengeId: "challenge", code: "123456" };
    expect(client.mfa.verify).toHaveBeenCalledWith(body);
  });

  it("requires six digits before it sends a request", async () => {
    renderPage(signedIn([app]));
    await userEvent.type(screen.getByLabelText("Six-digit code"), "12345a{Enter}");
    expect(await screen.findByText("Please enter the six digits of the code")).toBeVisible();
    expect(client.mfa.challenge).not.toHaveBeenCalled();
  });

  it("shows in the language of the page that a code is wrong, and selects the code", async () => {
    client.mfa.verify.mockResolvedValue({ error: wrongCode });
    renderPage(signedIn([app]), "/admin/auth", "pt");
    const field = screen.getByLabelText<HTMLInputElement>("Código de seis algarismos");
    await userEvent.type(field, "000000{Enter}");
    expect(await screen.findByRole("alert")).toHaveTextContent(
      "Não foi possível confirmar o códigoEste código não está certo ou já foi usado.",
    );
    await waitFor(() => expect(field).toHaveFocus());
    expect(field.selectionEnd! - field.selectionStart!).toBe(6);
    expect(toasts).toEqual([]);
  });

  it("sends a text message only on request, and verifies the code with its challenge", async () => {
    renderPage(signedIn([phone]));
    expect(screen.queryByLabelText("Six-digit code")).not.toBeInTheDocument();
    await waitFor(() => expect(screen.getByRole("button", { name: "Send code" })).toHaveFocus());
    expect(client.mfa.challenge).not.toHaveBeenCalled();
    await press("Send code");
    const field = await screen.findByLabelText("Six-digit code");
    await waitFor(() => expect(field).toHaveFocus());
    expect(screen.getByRole("status")).toHaveTextContent("on its way to the number ending in 345");
    await userEvent.type(field, "654321{Enter}");
    await waitFor(() => expect(client.mfa.verify).toHaveBeenCalled());
    expect(client.mfa.challenge).toHaveBeenCalledTimes(1);
  });

  it("lets the owner choose among several", async () => {
    renderPage(signedIn([app, phone]));
    const choice = screen.getByLabelText("Where the code comes from");
    expect(choice).toHaveTextContent("Authenticator app, EaselText message, number ending in 345");
    await userEvent.selectOptions(choice, "phone");
    expect(screen.getByRole("button", { name: "Send code" })).toBeVisible();
    await userEvent.selectOptions(choice, "app");
    expect(screen.getByLabelText("Six-digit code")).toBeVisible();
  });

  it("accepts a recovery code instead, with a request that supabase-js lacks", async () => {
    const requests = answerRequests(() => ({
      json: { access_token: "second", refresh_token: "r" },
    }));
    renderPage(signedIn([app]));
    await press("Use a recovery code instead");
    const field = screen.getByLabelText("Recovery code");
    await waitFor(() => expect(field).toHaveFocus());
    await userEvent.type(field, " abcde-23456 {Enter}");
    await waitFor(() => expect(client.setSession).toHaveBeenCalled());
    expect(client.setSession).toHaveBeenCalledWith({ access_token: "second", refresh_token: "r" });
    expect(requests).toMatchObject([
      {
        method: "POST",
        path: "/auth/v1/factors/recovery_codes/verify",
        body: { code: "abcde-23456" },
      },
    ]);
    expect(requests[0]!.headers.get("authorization")).toBe("Bearer first");
  });

  it("shows why a recovery code is rejected", async () => {
    answerRequests(() => ({
      status: 422,
      json: { error_code: "mfa_verification_failed", msg: "Invalid recovery code entered" },
    }));
    renderPage(signedIn([app]));
    await press("Use a recovery code instead");
    await userEvent.type(screen.getByLabelText("Recovery code"), "abcde-23456{Enter}");
    expect(await screen.findByRole("alert")).toHaveTextContent("it was used already");
    expect(client.setSession).not.toHaveBeenCalled();
  });

  it("can be left; when that fails, it shows a toast and stays", async () => {
    renderPage(signedIn([app]));
    client.signOut.mockResolvedValueOnce({ error: new Error("Not today") });
    await press("Back to sign-in");
    await waitFor(() => expect(toasts).toHaveLength(1));
    expect(toasts[0]).toMatchObject({ title: "Error signing out", description: "Not today" });
    await press("Back to sign-in");
    expect(client.signOut).toHaveBeenLastCalledWith({ scope: "local" });
  });

  it("is required before a new password, and then shows no welcome toast", async () => {
    renderPage(signedIn([app]), "/admin/auth?new-password=");
    await userEvent.type(screen.getByLabelText("Six-digit code"), "123456{Enter}");
    await waitFor(() => expect(client.mfa.verify).toHaveBeenCalled());
    expect(toasts).toEqual([]);
  });
});

describe("forgotten password", () => {
  it("requests the mail with the return address, and does not reveal whether the account exists", async () => {
    renderPage({}, "/admin/auth?from=%2Fadmin%2Freviews");
    await userEvent.click(screen.getByRole("link", { name: "Lost your password?" }));
    expect(heading()).toHaveTextContent("Lost password");
    await waitFor(() => expect(screen.getByLabelText("Email")).toHaveFocus());
    await userEvent.type(screen.getByLabelText("Email"), "ola@alvor.example{Enter}");
    expect(await screen.findByText(/If ola@alvor.example has an account here/)).toBeVisible();
    await waitFor(() => expect(heading()).toHaveFocus());
    expect(client.resetPasswordForEmail).toHaveBeenCalledWith("ola@alvor.example", {
      redirectTo: `${window.location.origin}/admin/auth?from=%2Fadmin%2Freviews`,
    });
    await userEvent.click(screen.getByRole("link", { name: "Back to sign-in" }));
    await waitFor(() => expect(screen.getByLabelText("Email")).toHaveFocus());
  });

  it("requires an email address before it sends a request", async () => {
    renderPage({}, "/admin/auth?forgotten");
    await userEvent.type(screen.getByLabelText("Email"), "ola{Enter}");
    expect(await screen.findByText("Please enter a valid email address")).toBeVisible();
    expect(client.resetPasswordForEmail).not.toHaveBeenCalled();
  });

  it("shows that a mail was requested too soon", async () => {
    const message = "For security purposes, you can only request this after 42 seconds.";
    client.resetPasswordForEmail.mockResolvedValue({
      error: new AuthApiError(message, 429, "over_email_send_rate_limit"),
    });
    renderPage({}, "/admin/auth?forgotten");
    await userEvent.type(screen.getByLabelText("Email"), "ola@alvor.example{Enter}");
    expect(await screen.findByRole("alert")).toHaveTextContent("Ask again in 42 seconds.");
  });

  it("is shown for an expired link, also to an owner who is signed in", () => {
    renderPage(signedIn(), "/admin/auth#error=access_denied&error_code=otp_expired", "pt");
    expect(screen.getByRole("alert")).toHaveTextContent(
      "Esta ligação não funcionaJá foi usada ou perdeu a validade. Peça uma nova.",
    );
    expect(heading()).toHaveTextContent("Senha esquecida");
  });

  it("is shown for a link whose session the client cannot read", () => {
    renderPage({}, "/admin/auth#access_token=a&type=recovery");
    expect(screen.getByRole("alert")).toHaveTextContent("The account could not be opened.");
  });
});

describe("new password", () => {
  /** Opens the step and waits for its code, which loads on demand. */
  async function open() {
    const rendered = renderPage(signedIn(), "/admin/auth?from=%2Fadmin%2Freviews&new-password=");
    await waitFor(() => expect(screen.getByLabelText("New password")).toHaveFocus());
    return rendered;
  }
  const type = (password: string) =>
    userEvent.type(screen.getByLabelText("New password"), `${password}{Enter}`);

  it("is saved, and the page redirects to the path in the mailed link", async () => {
    await open();
    expect(screen.getByText("For signing in as ola@alvor.example.")).toBeVisible();
    await type("four swallows over lime");
    expect(await screen.findByText("at /admin/reviews")).toBeVisible();
    expect(client.updateUser).toHaveBeenCalledWith({ password: "four swallows over lime" });
    expect(toasts).toMatchObject([{ title: "Welcome back!" }]);
  });

  it("shows at the field why a password is weak", async () => {
    const message = "Password should be at least 10 characters.";
    client.updateUser.mockResolvedValue({
      error: new AuthWeakPasswordError(message, 422, ["length"]),
    });
    await open();
    await type("short");
    expect(await screen.findByText("Use at least 10 characters.")).toBeVisible();
    expect(screen.getByLabelText("New password")).toBeInvalid();
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  });

  it("must not be empty", async () => {
    await open();
    await userEvent.keyboard("{Enter}");
    expect(await screen.findByText("Please enter a new password")).toBeVisible();
    expect(client.updateUser).not.toHaveBeenCalled();
  });

  it("is saved after a mailed code if the link was opened too long ago", async () => {
    const requests = answerRequests(() => ({ json: {} }));
    const message = "This change requires reauthentication";
    client.updateUser.mockResolvedValueOnce({
      error: new AuthApiError(message, 400, "reauthentication_needed"),
    });
    await open();
    await type("four swallows over lime");
    const dialog = within(await screen.findByRole("dialog", { name: "Confirm it is you" }));
    // Who has forgotten the password is not asked for it.
    expect(dialog.queryByLabelText("Your password")).not.toBeInTheDocument();
    expect(dialog.queryByRole("button", { name: "Confirm" })).not.toBeInTheDocument();
    const send = dialog.getByRole("button", { name: "Send a code by mail" });
    await waitFor(() => expect(send).toHaveFocus());
    await userEvent.click(send);
    await userEvent.type(await dialog.findByLabelText("Code from the mail"), "123456{Enter}");
    expect(client.reauthenticate).toHaveBeenCalledOnce();
    expect(await screen.findByText("at /admin/reviews")).toBeVisible();
    expect(requests).toMatchObject([
      { method: "POST", path: "/auth/v1/reauthenticate", body: { nonce: "123456" } },
    ]);
    expect(client.updateUser.mock.calls).toEqual([
      [{ password: "four swallows over lime" }],
      [{ password: "four swallows over lime" }],
    ]);
  });

  it("is not saved if the dialog for reauthentication is closed", async () => {
    client.updateUser.mockResolvedValueOnce({
      error: new AuthApiError("old", 400, "reauthentication_needed"),
    });
    await open();
    await type("four swallows over lime");
    await screen.findByRole("dialog", { name: "Confirm it is you" });
    await userEvent.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
    expect(await screen.findByRole("button", { name: "Save and sign in" })).toBeEnabled();
    expect(screen.getByLabelText("New password")).toHaveValue("four swallows over lime");
    expect(client.updateUser).toHaveBeenCalledOnce();
  });

  it("fetches the factors when the server requires a second factor", async () => {
    const message = "AAL2 session is required to update email or password when MFA is enabled.";
    client.updateUser.mockResolvedValue({
      error: new AuthApiError(message, 401, "insufficient_aal"),
    });
    const { queryClient } = await open();
    const invalidate = vi.spyOn(queryClient, "invalidateQueries");
    await type("four swallows over lime");
    expect(await screen.findByRole("alert")).toHaveTextContent("The second step comes first.");
    expect(invalidate).toHaveBeenCalledWith({ queryKey: ["auth_factors"] });
  });

  it("is not shown without a session", () => {
    renderPage({}, "/admin/auth?new-password=");
    expect(heading()).toHaveTextContent("Sign in");
  });
});

it("shows no form while a stored session is opened", () => {
  localStorage.setItem(backend.sessionStorageKey({ apiUrl: "http://backend.test" } as never), "{}");
  renderPage({ loading: true });
  expect(screen.getByRole("status")).toHaveTextContent("One moment…");
  expect(screen.queryByRole("heading")).not.toBeInTheDocument();
});
