import type { SiteTexts } from "@/lib/boot";

type Links = Pick<SiteTexts, "instagram" | "facebook" | "whatsapp">;

// The owner may give a profile as a full address, a handle or (WhatsApp) a phone number.

const isUrl = (text: string) => /^https?:\/\//i.test(text);
const lastSegment = (url: string) =>
  url
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .split("/")
    .pop() ?? "";

function profile(text: string | undefined, base: string): string | undefined {
  const value = text?.trim();
  if (!value) return undefined;
  return isUrl(value) ? value : base + value.replace(/^@/, "");
}

export function instagramUrl(site: Links): string | undefined {
  return profile(site.instagram, "https://www.instagram.com/");
}

/** "@name", as people write it. */
export function instagramHandle(site: Links): string | undefined {
  const url = instagramUrl(site);
  return url && `@${lastSegment(url)}`;
}

export function facebookUrl(site: Links): string | undefined {
  return profile(site.facebook, "https://www.facebook.com/");
}

export function whatsappUrl(site: Links): string | undefined {
  const value = site.whatsapp?.trim();
  if (!value) return undefined;
  return isUrl(value) ? value : `https://wa.me/${value.replace(/\D/g, "")}`;
}
