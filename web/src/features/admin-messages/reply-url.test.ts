import { expect, it } from "vitest";
import { replyUrl } from "@/features/admin-messages/reply-url";

it("makes a mailto: URL with a subject", () => {
  expect(replyUrl("ines@exemplo.pt", "A sua mensagem para Alvor")).toBe(
    "mailto:ines@exemplo.pt?subject=A%20sua%20mensagem%20para%20Alvor",
  );
});

it("AM-status-1: an email address cannot add mail headers", () => {
  expect(replyUrl("x@y.pt?bcc=all@z.pt", "s")).toBe("mailto:x@y.pt%3Fbcc%3Dall@z.pt?subject=s");
});
