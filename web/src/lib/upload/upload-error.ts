/**
 * A failed upload. `status` is the HTTP status in the error body, else the status of the response; 0 without a response.
 */
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

/** Makes the error of a failed response. `text` is its body; message and status in the body replace `statusText` and `status`. */
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
 * Whether the server rejected a request for lack of a session or role (401, 403). In errors of storage, `statusCode` is a string.
 */
export function isDenied(error: unknown): boolean {
  const { status, statusCode } = Object(error) as { status?: number; statusCode?: string };
  return [status, Number(statusCode)].some((code) => code === 401 || code === 403);
}
