import { expect, it } from "vitest";
import {
  hasSessionInHash,
  isPasswordLink,
  linkFailure,
  newPasswordUrl,
} from "@/features/session/mailed-link";

const query = (text = "") => new URLSearchParams(text);

it("recognizes links for choosing a password", () => {
  expect(isPasswordLink("#access_token=a&sb=&type=recovery")).toBe(true);
  expect(isPasswordLink("#access_token=a&type=invite")).toBe(true);
  expect(isPasswordLink("#access_token=a&type=magiclink")).toBe(false);
  expect(isPasswordLink("#type=recovery")).toBe(false);
  expect(isPasswordLink("")).toBe(false);
});

it("keeps the return path in the URL of the step", () => {
  expect(newPasswordUrl("")).toBe("/admin/auth?new-password=");
  expect(newPasswordUrl("?from=%2Fadmin%2Freviews")).toBe(
    "/admin/auth?from=%2Fadmin%2Freviews&new-password=",
  );
});

it("reads the error of a link in the hash and in the query", () => {
  const failedLink =
    "error=access_denied&error_code=otp_expired&error_description=Email+link+is+invalid";
  const failure = { code: "otp_expired", message: "Email link is invalid" };
  expect(linkFailure(`#${failedLink}&sb=`, query())).toEqual(failure);
  expect(linkFailure("", query(failedLink))).toEqual(failure);
  expect(linkFailure("#contact", query("setup=token"))).toBeNull();
});

it("detects a session in the hash", () => {
  expect(hasSessionInHash("#access_token=a")).toBe(true);
  expect(hasSessionInHash("")).toBe(false);
});
