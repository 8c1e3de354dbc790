import { createClient } from "@supabase/supabase-js";
import { afterEach, expect, it, vi } from "vitest";
import { answerRequests } from "@/test/answer-requests";
import { ownerToken } from "@/test/owner";

// How supabase-js handles URLs with a session (docs/product.md, rule 10).
let clients = 0;
async function start(address: string, flowType: "implicit" | "pkce" = "implicit") {
  window.history.replaceState(null, "", address);
  const { auth } = createClient("http://backend.test", "public-key", {
    auth: { storageKey: `address-${clients++}`, autoRefreshToken: false, flowType },
  });
  const { error } = await auth.initialize();
  const { data } = await auth.getSession();
  return { message: error?.message, session: data.session };
}

afterEach(() => {
  window.history.replaceState(null, "", "/");
  localStorage.clear();
});

it("S8-client-5: reports what is wrong with the URL, and opens no session", async () => {
  expect(await start("/#access_token=a")).toEqual({
    message: "No session defined in URL",
    session: null,
  });
  expect(await start("/#access_token=a", "pkce")).toEqual({
    message: "Not a valid PKCE flow url.",
    session: null,
  });
});

// The client keeps an existing session, so a used link does not sign anybody out.
it.each([
  "identity_already_exists",
  "identity_not_found",
  "single_identity_not_deletable",
  "otp_expired",
])("S8-client-2: reports the error %s in the URL, and opens no session", async (code) => {
  const address = `/#error=server_error&error_code=${code}&error_description=It+did+not+work`;
  window.history.replaceState(null, "", address);
  const { auth } = createClient("http://backend.test", "public-key", {
    auth: { storageKey: `address-${clients++}`, autoRefreshToken: false },
  });
  const { error } = await auth.initialize();
  expect(error).toMatchObject({ message: "It did not work", details: { code } });
  expect((await auth.getSession()).data.session).toBeNull();
});

// "No code detected.", "No browser detected." and "An error occurred on token verification." need conditions that the
// client has already excluded, so no call can cause them.
it("S8-client-5: reports that a code does not belong to its flow", async () => {
  // A code verifier of another client that uses the PKCE flow.
  localStorage.setItem(`address-${clients}-code-verifier`, JSON.stringify("verifier"));
  expect(await start("/?code=a")).toEqual({
    message: "Not a valid implicit grant flow url.",
    session: null,
  });
});

it("S8-client-5: reports an unexpected error when the browser's storage fails", async () => {
  window.history.replaceState(null, "", "/?code=a");
  const broken = () => {
    throw new Error("the disk is broken");
  };
  const getItem = vi.fn((): string | null => null).mockImplementationOnce(broken);
  const storage = { getItem, setItem: () => undefined, removeItem: () => undefined };
  const { auth } = createClient("http://backend.test", "public-key", {
    auth: { storageKey: `address-${clients++}`, autoRefreshToken: false, storage },
  });
  const { error } = await auth.initialize();
  expect(error?.message).toBe("Unexpected error during initialization");
});

it("S9-auth-3: warns of a session that was issued more than 120 seconds ago", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  answerRequests(() => ({ json: { id: "owner", aud: "authenticated" } }));
  const issued = (secondsAgo: number) => {
    const expires = Math.round(Date.now() / 1000) - secondsAgo + 3600;
    return `/#access_token=${ownerToken}&refresh_token=r&token_type=bearer&expires_in=3600&expires_at=${expires}`;
  };
  expect((await start(issued(100))).session?.user.id).toBe("owner");
  expect(warn).not.toHaveBeenCalled();
  expect((await start(issued(130))).session?.user.id).toBe("owner");
  expect(warn).toHaveBeenCalledWith(
    expect.stringContaining("issued over 120s ago"),
    expect.anything(),
    expect.anything(),
    expect.anything(),
  );
});
