import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { AuthChangeEvent, Session } from "@supabase/supabase-js";
import { Link, useLocation } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";
// Imported first, so that no test waits while it is compiled.
import "@/features/session/components/session-observer";
import "@/features/session/sign-in";
import { AuthProvider } from "@/features/session/components/auth-provider";
import { useAuth } from "@/lib/auth";
import * as backend from "@/lib/backend";
import * as toasts from "@/lib/toast";
import { renderApp, testBoot, type RenderedApp } from "@/test/render";

vi.mock("@/lib/backend", async (original) => ({
  ...(await original<typeof backend>()),
  ownerBackend: vi.fn(),
}));
vi.mock("@/lib/toast", () => ({ singleToast: vi.fn(), stackedToast: vi.fn() }));

type Listener = (event: AuthChangeEvent, session: Session | null) => void;
type RoleAnswer = { data: { role: string } | null; error: unknown; status: number };

const owner = { access_token: "a", user: { id: "owner" } } as Session;
const admin: RoleAnswer = { data: { role: "admin" }, error: null, status: 200 };
const noRow: RoleAnswer = { data: null, error: { code: "PGRST116" }, status: 406 };

function fakeClient(stored: Session | null, role: RoleAnswer = admin, factors: object[] = []) {
  const user = { ...owner.user, factors };
  const listeners = new Set<Listener>();
  const single = vi.fn(async () => role);
  const emit: Listener = (event, session) => listeners.forEach((listen) => listen(event, session));
  const client = {
    from: vi.fn(() => ({ select: () => ({ eq: () => ({ single }) }) })),
    auth: {
      onAuthStateChange: (listen: Listener) => {
        listeners.add(listen);
        queueMicrotask(() => listen("INITIAL_SESSION", stored));
        return { data: { subscription: { unsubscribe: () => listeners.delete(listen) } } };
      },
      getUser: vi.fn(async () => ({ data: { user }, error: null })),
      signInWithPassword: vi.fn(async () => {
        emit("SIGNED_IN", owner);
        return { data: { user }, error: null };
      }),
      signOut: vi.fn(async (): Promise<{ error: { message: string } | null }> => {
        emit("SIGNED_OUT", null);
        return { error: null };
      }),
      setSession: vi.fn(async () => {
        emit("SIGNED_IN", owner);
        return { data: { user }, error: null };
      }),
    },
  };
  vi.mocked(backend.ownerBackend).mockResolvedValue(client as never);
  return { client, emit, single };
}

function Probe() {
  const auth = useAuth();
  const { pathname } = useLocation();
  return (
    <>
      <p>{auth.loading ? "loading" : `${auth.user?.id ?? "nobody"} ${auth.role ?? "no role"}`}</p>
      <p>{`owes ${auth.pendingFactors.map(({ type }) => type).join(" or ") || "nothing"}`}</p>
      <p>{`at ${pathname}`}</p>
      <Link to="/admin">To admin</Link>
      <button onClick={() => void auth.signIn("e", "p")}>In</button>
      <button onClick={() => void auth.signOut()}>Out</button>
      <button onClick={() => void auth.setUp("token", "e", "p")}>Set up</button>
    </>
  );
}
const renderProvider = (path = "/") => renderApp(<AuthProvider header={<Probe />} />, { path });
const storeSession = () => localStorage.setItem(backend.sessionStorageKey(testBoot), "{}");

beforeEach(() => {
  localStorage.clear();
  vi.mocked(backend.ownerBackend).mockReset();
  vi.mocked(toasts.singleToast).mockReset();
});

describe("start", () => {
  it("S4-session-4: loads no session code for a visitor", async () => {
    renderProvider("/");
    expect(await screen.findByText("nobody no role")).toBeVisible();
    expect(backend.ownerBackend).not.toHaveBeenCalled();
  });

  it("loads the session code when the visitor opens an admin page", async () => {
    fakeClient(null);
    renderProvider("/");
    await userEvent.click(screen.getByRole("link", { name: "To admin" }));
    expect(await screen.findByText("nobody no role")).toBeVisible();
    expect(backend.ownerBackend).toHaveBeenCalled();
  });

  it("S4-session-1: reads a stored session and its role, and is loading until both are known", async () => {
    storeSession();
    fakeClient(owner);
    renderProvider("/");
    expect(screen.getByText("loading")).toBeVisible();
    expect(await screen.findByText("owner admin")).toBeVisible();
  });

  it("treats a missing role row as no role", async () => {
    storeSession();
    fakeClient(owner, noRow);
    renderProvider("/");
    expect(await screen.findByText("owner no role")).toBeVisible();
    expect(toasts.singleToast).not.toHaveBeenCalled();
  });

  it("stays loading while the role service cannot be reached", async () => {
    storeSession();
    const { single } = fakeClient(owner, { data: null, error: new Error("offline"), status: 0 });
    renderProvider("/admin");
    await waitFor(() => expect(single).toHaveBeenCalled());
    expect(screen.getByText("loading")).toBeVisible();
  });

  it("A-guard-5: does not fetch the role again when the token is refreshed", async () => {
    storeSession();
    const { emit, single } = fakeClient(owner);
    renderProvider("/");
    await screen.findByText("owner admin");
    act(() => emit("TOKEN_REFRESHED", { ...owner, access_token: "b", user: { ...owner.user } }));
    expect(screen.getByText("owner admin")).toBeVisible();
    expect(single).toHaveBeenCalledTimes(1);
  });

  it("S4-session-1: detects a sign-in in another tab", async () => {
    fakeClient(owner);
    renderProvider("/");
    await screen.findByText("nobody no role");
    const key = backend.sessionStorageKey(testBoot);
    act(() => void window.dispatchEvent(new StorageEvent("storage", { key, newValue: "{}" })));
    expect(await screen.findByText("owner admin")).toBeVisible();
  });

  it("shows a toast when the session code cannot be loaded, and continues without a session", async () => {
    storeSession();
    vi.mocked(backend.ownerBackend).mockRejectedValue(new Error("chunk is gone"));
    renderProvider("/");
    expect(await screen.findByText("nobody no role")).toBeVisible();
    expect(toasts.singleToast).toHaveBeenCalledWith(
      expect.objectContaining({ description: "chunk is gone", destructive: true }),
    );
  });

  it("loads the session code again at the next sign-in", async () => {
    vi.mocked(backend.ownerBackend).mockRejectedValueOnce(new Error("chunk is gone"));
    renderProvider("/admin/auth");
    await waitFor(() => expect(toasts.singleToast).toHaveBeenCalled());
    fakeClient(owner);
    await userEvent.click(screen.getByRole("button", { name: "In" }));
    expect(await screen.findByText("owner admin")).toBeVisible();
  });

  it("signs in while the session code is loading", async () => {
    const { client } = fakeClient(null);
    let arrive = () => {};
    vi.mocked(backend.ownerBackend).mockImplementationOnce(
      () => new Promise((done) => (arrive = () => done(client as never))),
    );
    client.auth.signInWithPassword.mockResolvedValue({
      data: { user: { ...owner.user, factors: [] } },
      error: null,
    });
    renderProvider("/admin/auth");
    expect(await screen.findByText("loading")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "In" }));
    await waitFor(() =>
      expect(client.auth.signInWithPassword).toHaveBeenCalledWith({ email: "e", password: "p" }),
    );
    act(() => arrive());
    expect(await screen.findByText("nobody no role")).toBeVisible();
  });
});

describe("role", () => {
  const signIn = () => userEvent.click(screen.getByRole("button", { name: "In" }));
  /** Waits until the role of the ended session is no longer in the cache. */
  const expectForgotten = ({ queryClient }: RenderedApp) =>
    waitFor(() =>
      expect(
        queryClient.getQueryCache().find({ queryKey: ["user_roles", "owner"] }),
      ).toBeUndefined(),
    );

  it("A-log-in: is fetched again at the next sign-in", async () => {
    const { single } = fakeClient(null, noRow);
    const app = renderProvider("/admin/auth");
    await screen.findByText("nobody no role");
    await signIn();
    expect(await screen.findByText("owner no role")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Out" }));
    expect(await screen.findByText("nobody no role")).toBeVisible();
    await expectForgotten(app);
    single.mockResolvedValue(admin);
    await signIn();
    expect(await screen.findByText("owner admin")).toBeVisible();
  });

  it("A-guard-8: of an ended session is not used again, even if its request is answered later", async () => {
    storeSession();
    const { emit, single } = fakeClient(owner);
    const app = renderProvider("/admin");
    await screen.findByText("owner admin");
    let answer: (role: RoleAnswer) => void = () => {};
    single.mockImplementationOnce(() => new Promise((done) => (answer = done)));
    act(() => void window.dispatchEvent(new Event("visibilitychange")));
    await waitFor(() => expect(single).toHaveBeenCalledTimes(2));
    act(() => emit("SIGNED_OUT", null));
    expect(await screen.findByText("nobody no role")).toBeVisible();
    answer(noRow);
    await expectForgotten(app);
    await signIn();
    expect(await screen.findByText("owner admin")).toBeVisible();
  });
});

describe("rows", () => {
  it("A-guard-8: of an ended session are fetched again by the next one", async () => {
    storeSession();
    const { emit } = fakeClient(owner);
    const { queryClient } = renderProvider("/admin");
    await screen.findByText("owner admin");
    const list = ["reviews", "admin"];
    const savedReplies = ["saved_replies"];
    queryClient.setQueryData(list, ["only what a visitor may read"]);
    queryClient.setQueryData(savedReplies, []);
    act(() => emit("TOKEN_REFRESHED", { ...owner, access_token: "b" }));
    expect(queryClient.getQueryData(list)).toBeDefined();
    expect(queryClient.getQueryState(savedReplies)?.isInvalidated).toBe(false);
    act(() => emit("SIGNED_OUT", null));
    expect(await screen.findByText("nobody no role")).toBeVisible();
    expect(queryClient.getQueryData(list)).toBeUndefined();
    expect(queryClient.getQueryState(savedReplies)?.isInvalidated).toBe(true);
  });
});

describe("second factor", () => {
  const app = { id: "f1", factor_type: "totp", status: "verified", friendly_name: "" };
  const phone = { id: "f2", factor_type: "phone", status: "verified", phone: "351900000123" };
  const begun = { id: "f3", factor_type: "totp", status: "unverified" };
  const raised = { ...owner, access_token: `x.${btoa('{"aal":"aal2"}')}.x` } as Session;

  it("is required of a stored session of level aal1, which has no role before", async () => {
    storeSession();
    const { emit } = fakeClient(owner, admin, [phone, begun, app]);
    renderProvider("/");
    expect(await screen.findByText("owner no role")).toBeVisible();
    expect(screen.getByText("owes totp or phone")).toBeVisible();
    act(() => emit("MFA_CHALLENGE_VERIFIED", raised));
    expect(await screen.findByText("owner admin")).toBeVisible();
    expect(screen.getByText("owes nothing")).toBeVisible();
  });

  it("is not fetched for a session of level aal2", async () => {
    storeSession();
    const { client } = fakeClient(raised, admin, [app]);
    renderProvider("/");
    expect(await screen.findByText("owner admin")).toBeVisible();
    expect(client.auth.getUser).not.toHaveBeenCalled();
  });

  it("delays the welcome toast until it is verified", async () => {
    fakeClient(null, admin, [app]);
    renderProvider("/admin/auth");
    await screen.findByText("nobody no role");
    await userEvent.click(screen.getByRole("button", { name: "In" }));
    expect(await screen.findByText("owes totp")).toBeVisible();
    expect(toasts.singleToast).not.toHaveBeenCalled();
  });
});

describe("mailed link", () => {
  it("of a new password or an invitation opens that step and keeps the query", async () => {
    for (const type of ["recovery", "invite"]) {
      fakeClient(owner);
      const { unmount } = renderProvider(`/#access_token=a&type=${type}`);
      expect(await screen.findByText("owner admin")).toBeVisible();
      expect(await screen.findByText("at /admin/auth")).toBeVisible();
      unmount();
    }
  });

  it("that has expired opens the sign-in page", async () => {
    fakeClient(null);
    renderProvider("/#error=access_denied&error_code=otp_expired");
    expect(await screen.findByText("at /admin/auth")).toBeVisible();
  });

  it("of another kind does not change the page", async () => {
    fakeClient(owner);
    renderProvider("/#access_token=a&type=magiclink");
    expect(await screen.findByText("owner admin")).toBeVisible();
    expect(screen.getByText("at /")).toBeVisible();
  });
});

describe("sign in", () => {
  it("S8-login-1: welcomes", async () => {
    fakeClient(null);
    renderProvider("/admin/auth");
    await screen.findByText("nobody no role");
    await userEvent.click(screen.getByRole("button", { name: "In" }));
    expect(await screen.findByText("owner admin")).toBeVisible();
    await waitFor(() =>
      expect(toasts.singleToast).toHaveBeenCalledWith({
        title: "Welcome back!",
        description: "You have successfully signed in to the admin dashboard.",
      }),
    );
  });
});

describe("set up", () => {
  it("turns the token into a session", async () => {
    const { client } = fakeClient(null);
    const fetchSpy = vi
      .spyOn(globalThis, "fetch")
      .mockResolvedValue(Response.json({ access_token: "a", refresh_token: "r" }));
    renderProvider("/admin/auth");
    await screen.findByText("nobody no role");
    await userEvent.click(screen.getByRole("button", { name: "Set up" }));
    expect(await screen.findByText("owner admin")).toBeVisible();
    expect(fetchSpy).toHaveBeenCalledWith(
      "http://backend.test/auth/v1/setup",
      expect.objectContaining({
        body: JSON.stringify({ token: "token", email: "e", password: "p" }),
      }),
    );
    expect(client.auth.setSession).toHaveBeenCalledWith({ access_token: "a", refresh_token: "r" });
  });
});

describe("sign out", () => {
  async function signedIn() {
    storeSession();
    const fake = fakeClient(owner);
    renderProvider("/admin");
    await screen.findByText("owner admin");
    return fake;
  }
  const out = () => userEvent.click(screen.getByRole("button", { name: "Out" }));

  it("shows a toast and navigates to the home page, without the sign-in page", async () => {
    const { client } = await signedIn();
    await out();
    expect(await screen.findByText("nobody no role")).toBeVisible();
    expect(await screen.findByText("at /")).toBeVisible();
    expect(client.auth.signOut).toHaveBeenCalledWith({ scope: "local" });
    await waitFor(() =>
      expect(toasts.singleToast).toHaveBeenCalledWith({ title: "Signed out successfully" }),
    );
  });

  it("S8-signout-1: shows the server's message on an error and stays", async () => {
    const { client } = await signedIn();
    client.auth.signOut.mockResolvedValue({ error: { message: "Not today" } });
    await out();
    await waitFor(() =>
      expect(toasts.singleToast).toHaveBeenCalledWith({
        title: "Error signing out",
        description: "Not today",
        destructive: true,
      }),
    );
    expect(screen.getByText("at /admin")).toBeVisible();
    expect(screen.getByText("owner admin")).toBeVisible();
  });

  it("S8-signout-1: shows any other error as unexpected", async () => {
    const { client } = await signedIn();
    client.auth.signOut.mockRejectedValue(new Error("boom"));
    await out();
    await waitFor(() =>
      expect(toasts.singleToast).toHaveBeenCalledWith({
        title: "Error signing out",
        description: "An unexpected error occurred",
        destructive: true,
      }),
    );
    expect(screen.getByText("at /admin")).toBeVisible();
  });

  it("detects a sign-out in another tab", async () => {
    const { emit } = await signedIn();
    act(() => emit("SIGNED_OUT", null));
    expect(await screen.findByText("nobody no role")).toBeVisible();
  });
});
