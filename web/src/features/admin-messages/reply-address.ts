/** A mailto address; everything in it was typed by a stranger, so a "?" must not add headers. */
export function replyAddress(email: string, subject: string): string {
  const address = email.trim().split("@").map(encodeURIComponent).join("@");
  return `mailto:${address}?subject=${encodeURIComponent(subject)}`;
}
