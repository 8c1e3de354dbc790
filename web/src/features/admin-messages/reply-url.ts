/**
 * Returns the mailto: URL with which the owner replies to a message in a mail program. `email` is the visitor's address. It is
 * escaped, because a "?" in it could add mail headers.
 */
export function replyUrl(email: string, subject: string): string {
  const address = email.trim().split("@").map(encodeURIComponent).join("@");
  return `mailto:${address}?subject=${encodeURIComponent(subject)}`;
}
