import { useState } from "react";
import { flushSync } from "react-dom";
import { ConflictError } from "@/lib/editing/update-if-unchanged";

/**
 * The options of useSave. `Request` is the type of what a form saves. Its property `base` is the version that the form was loaded
 * with. `Result` is the type of what saving returns.
 */
type SaveOptions<Request, Result> = {
  /** Sends the request. Rejects with ConflictError if a newer version exists. */
  save(request: Request): Promise<Result>;
  onSaved(result: Result, request: Request): void;
  /** Called for all errors except a conflict. */
  onFailed(error: unknown): void;
};

/** The type of the newer version in a conflict: the type of the base, without null. */
type Newer<Request extends { base: unknown }> = NonNullable<Request["base"]>;

/**
 * Saves a form and handles conflicts. Returns `run`, which calls `save`, and the state of the save. `run` also takes a promise of
 * the request, and `saving` is true while it is pending. If a newer version exists, `conflict` has the request and the newer version
 * for a ConflictDialog, until `dismissConflict` is called or a save succeeds.
 */
export function useSave<Request extends { base: unknown }, Result>({
  save,
  onSaved,
  onFailed,
}: SaveOptions<Request, Result>) {
  const [saving, setSaving] = useState(false);
  const [conflict, setConflict] = useState<{ newer: Newer<Request>; request: Request } | null>(
    null,
  );

  async function run(pendingRequest: Request | Promise<Request>): Promise<void> {
    let request: Request | undefined;
    let result: Result;
    setSaving(true);
    try {
      request = await pendingRequest;
      result = await save(request);
    } catch (error) {
      // Rendered first, because the fields are inert until then (FormFields), and onFailed may move the focus to one of them.
      flushSync(() => setSaving(false));
      if (error instanceof ConflictError && request)
        setConflict({ newer: error.newer as Newer<Request>, request });
      else onFailed(error);
      return;
    }
    setSaving(false);
    setConflict(null);
    onSaved(result, request);
  }

  return { run, saving, conflict, dismissConflict: () => setConflict(null) };
}
