import { describe, expect, test } from "vitest";
import { contactSchema } from "@/features/contact/schema";
import en from "@/locales/en.json";
import pt from "@/locales/pt.json";

const good = { name: "Ana", email: "ana@example.com", message: "A wall of 3 m.", reason: "" };

function issues(values: Partial<typeof good>) {
  const result = contactSchema.safeParse({ ...good, ...values });
  return result.success ? [] : result.error.issues.map((issue) => issue.message);
}

test("accepts and trims valid values, with the honeypot field", () => {
  expect(contactSchema.parse({ ...good, name: "  Ana ", message: ` ${good.message}\n` })).toEqual(
    good,
  );
});

describe("limits", () => {
  test.each([
    [{ name: "A" }, "contact.error.name"],
    [{ name: "  A  " }, "contact.error.name"],
    [{ name: "a".repeat(101) }, "contact.error.nameLong"],
    [{ email: "ana@exemplo" }, "contact.error.email"],
    [{ email: "" }, "contact.error.email"],
    [{ email: `${"a".repeat(250)}@example.com` }, "contact.error.email"],
    [{ message: "123456789" }, "contact.error.message"],
    [{ message: `    ${"1".repeat(9)}    ` }, "contact.error.message"],
    [{ message: "a".repeat(5001) }, "contact.error.messageLong"],
  ])("S5-contact-1: %j", (values, message) => {
    expect(issues(values)).toContain(message);
  });

  test("S5-contact-7: a character is a code point, not a UTF-16 unit", () => {
    expect(issues({ name: "🎨" })).toEqual(["contact.error.name"]);
    expect(issues({ name: "🎨🎨" })).toEqual([]);
    expect(issues({ message: "🎨".repeat(9) })).toEqual(["contact.error.message"]);
    expect(issues({ message: "🎨".repeat(10) })).toEqual([]);
  });

  test("accept the shortest and the longest values", () => {
    expect(issues({ name: "Zé", message: "1234567890" })).toEqual([]);
    expect(issues({ name: "a".repeat(100), message: "a".repeat(5000) })).toEqual([]);
  });
});

test("both catalogues have every error text", () => {
  const { name, email, message } = {
    name: issues({ name: "" })[0],
    email: issues({ email: "" })[0],
    message: issues({ message: "" })[0],
  } as Record<"name" | "email" | "message", keyof typeof en>;
  expect(en[name]).toBe("Name must be at least 2 characters");
  expect(en[email]).toBe("Please enter a valid email address");
  expect(en[message]).toBe("Message must be at least 10 characters");
  expect(pt[name]).toBe("O nome deve ter pelo menos 2 caracteres");
  expect(pt[email]).toBe("Indique um endereço de e-mail válido");
  expect(pt[message]).toBe("A mensagem deve ter pelo menos 10 caracteres");
});
