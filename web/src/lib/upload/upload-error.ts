/** The status is the service's own, which its error body carries as text; 0 when nobody answered. */
export class UploadError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
    this.name = "UploadError";
  }
}

/** The first bytes are not those of a picture or film that may be stored here, or of one that nothing here reads. */
export class RefusedFileError extends Error {
  constructor(readonly reason: "type" | "heic" = "type") {
    super("The file is of a type that is not accepted");
    this.name = "RefusedFileError";
  }
}

/** The service's text in an error body; its status where the body names one. */
export function errorOf(text: string, status: number, statusText: string): UploadError {
  try {
    const body = JSON.parse(text) as { statusCode?: string; message?: string };
    const own = Number(body.statusCode);
    return new UploadError(
      body.message || statusText,
      Number.isInteger(own) && own > 0 ? own : status,
    );
  } catch {
    return new UploadError(statusText || `HTTP ${status}`, status);
  }
}

/** Whether the service refused for want of a session or a role; its own status may stand as text beside HTTP's. */
export function isDenied(error: unknown): boolean {
  const { status, statusCode } = Object(error) as { status?: number; statusCode?: string };
  return [status, Number(statusCode)].some((one) => one === 401 || one === 403);
}
