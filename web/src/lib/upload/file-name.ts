/** Returns a random name for a stored file, which no other file has. */
export function randomFileName(extension: string): string {
  return `${randomUuid()}.${extension}`;
}

/** A random UUID (version 4). */
export function randomUuid(): string {
  // randomUUID exists only in secure contexts, but a site on a local network may be served over plain HTTP.
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40; // version 4
  bytes[8] = (bytes[8]! & 0x3f) | 0x80; // the variant of RFC 9562
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
