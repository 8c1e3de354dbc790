import { createClient } from "@supabase/supabase-js";
import { afterEach, expect, it, vi } from "vitest";
import { answerRequests } from "@/test/answer-requests";
import { ownerToken } from "@/test/owner";

// What specification §8 and §9 say of the official client when an address should hold a session.
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

it("says what is wrong with the address, and there is no session", async () => {
  expect(await start("/#access_token=a")).toEqual({
    message: "No session defined in URL",
    session: null,
  });
  expect(await start("/#access_token=a", "pkce")).toEqual({
    message: "Not a valid PKCE flow url.",
    session: null,
  });
});

// "No code detected.", "No browser detected." and "An error occurred on token verification." stand behind
// conditions that the client itself has already excluded: no call of it leads there.
it("says that a code does not belong to its way of signing in", async () => {
  // Left behind by another client that signs in with codes.
  localStorage.setItem(`address-${clients}-code-verifier`, JSON.stringify("verifier"));
  expect(await start("/?code=a")).toEqual({
    message: "Not a valid implicit grant flow url.",
    session: null,
  });
});

it("calls it unexpected when the browser's storage fails", async () => {
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

it("warns of a session that was issued more than 120 seconds ago", async () => {
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
