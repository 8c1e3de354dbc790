/** The mailto: URL of a reply. The sender's email address is escaped, because a "?" in it could add mail headers. */
export function replyUrl(email: string, subject: string): string {
  const address = email.trim().split("@").map(encodeURIComponent).join("@");
  return `mailto:${address}?subject=${encodeURIComponent(subject)}`;
}
