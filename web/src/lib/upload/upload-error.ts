/** A failed upload. `status` is the status in the body of the response, else the HTTP status; 0 if there was no response. */
export class UploadError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
    this.name = "UploadError";
  }
}

/** The file is refused because of its first bytes: an unknown type, or HEIC on a server that cannot read it. */
export class RefusedFileError extends Error {
  constructor(readonly reason: "type" | "heic" = "type") {
    super("The file is of a type that is not accepted");
    this.name = "RefusedFileError";
  }
}

/** Makes the error of a failed response. `text` is the body. A message or status in the body replaces `statusText` or `status`. */
export function responseError(text: string, status: number, statusText: string): UploadError {
  try {
    const body = JSON.parse(text) as { statusCode?: string; message?: string };
    const bodyStatus = Number(body.statusCode);
    return new UploadError(
      body.message || statusText,
      Number.isInteger(bodyStatus) && bodyStatus > 0 ? bodyStatus : status,
    );
  } catch {
    return new UploadError(statusText || `HTTP ${status}`, status);
  }
}

/**
 * Whether the server has rejected a request for lack of a session or role (401 or 403). Errors of supabase-js for files have the status
 * as a string in `statusCode`.
 */
export function isDenied(error: unknown): boolean {
  // Object makes an object of any value, so that an error such as null has no properties instead of failing here.
  const { status, statusCode } = Object(error) as { status?: number; statusCode?: string };
  return [status, Number(statusCode)].some((code) => code === 401 || code === 403);
}
