import type { SiteTexts } from "@/lib/boot";

// The URLs of the owner's social profiles, made from what the owner has entered: a full URL, a handle such as @name, or a phone number
// for WhatsApp. The functions return undefined for a profile that is not set.

type Links = Pick<SiteTexts, "instagram" | "facebook" | "whatsapp">;

const isUrl = (text: string) => /^https?:\/\//i.test(text);
const lastSegment = (url: string) =>
  url
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .split("/")
    .pop() ?? "";

/** Returns a full URL unchanged, appends a handle to `base`, and returns undefined for an empty text. */
function profileUrl(text: string | undefined, base: string): string | undefined {
  const value = text?.trim();
  if (!value) return undefined;
  return isUrl(value) ? value : base + value.replace(/^@/, "");
}

/** The URL of the Instagram profile. */
export function instagramUrl(site: Links): string | undefined {
  return profileUrl(site.instagram, "https://www.instagram.com/");
}

/** The Instagram handle as "@name". */
export function instagramHandle(site: Links): string | undefined {
  const url = instagramUrl(site);
  return url && `@${lastSegment(url)}`;
}

/** The URL of the Facebook page. */
export function facebookUrl(site: Links): string | undefined {
  return profileUrl(site.facebook, "https://www.facebook.com/");
}

/** The URL that opens a WhatsApp chat with the owner. */
export function whatsappUrl(site: Links): string | undefined {
  const value = site.whatsapp?.trim();
  if (!value) return undefined;
  if (isUrl(value)) return value;
  // A number without a country code gets no link, because the link could lead to another person's number.
  return value.startsWith("+") ? `https://wa.me/${value.replace(/\D/g, "")}` : undefined;
}
