/** The message a service sent with its error, or the fallback when the value carries none. */
export function messageOf(error: unknown, fallback = ""): string {
  if (typeof error === "string") return error || fallback;
  if (typeof error === "object" && error !== null && "message" in error) {
    const { message } = error;
    if (typeof message === "string" && message) return message;
  }
  return fallback;
}
