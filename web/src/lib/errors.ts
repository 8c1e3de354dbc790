/** The message of an error of any type, or the fallback if the error has no message. */
export function messageOf(error: unknown, fallback = ""): string {
  if (typeof error === "string") return error || fallback;
  if (typeof error === "object" && error !== null && "message" in error) {
    const { message } = error;
    if (typeof message === "string" && message) return message;
  }
  return fallback;
}
