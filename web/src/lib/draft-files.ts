// Stores the chosen files of a draft (the unsaved values of a form, lib/drafts.ts) in IndexedDB until they are uploaded. The key of
// a file has two parts. The first is the name of the draft, or a longer name for one field of the form, such as "<draft>/avatar".
// The second is the id of the file. If the browser has lost a file, the owner must choose the file again.

const DATABASE = "atelie-drafts";
/** The name of the object store, IndexedDB's table of files. */
const FILES = "files";
/** The limit in bytes for the files of all drafts together. A file that would exceed the limit is not stored. */
const MAX_BYTES = 500 * 1024 * 1024;
/**
 * The maximum age in milliseconds of a draft (lib/drafts.ts) and of its files: 30 days. Older files are deleted when the database
 * is opened.
 */
export const MAX_AGE_MS = 30 * 86_400_000;

/** A stored file; `at` is when it was stored, in milliseconds since 1970. */
type StoredFile = { at: number; file: File };

// The open database; undefined before the first use and after the browser has closed it.
let databasePromise: Promise<IDBDatabase> | undefined;

/** Opens the database once and deletes old files. */
function openDatabase(): Promise<IDBDatabase> {
  databasePromise ??= new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.addEventListener("upgradeneeded", () => request.result.createObjectStore(FILES));
    request.addEventListener("error", () =>
      reject(request.error ?? new Error("IndexedDB cannot be opened")),
    );
    request.addEventListener("success", () => {
      const database = request.result;
      database.addEventListener("versionchange", () => database.close());
      database.addEventListener("close", () => (databasePromise = undefined));
      deleteOldFiles(database).then(() => resolve(database), reject);
    });
  });
  return databasePromise;
}

// Sizes in bytes of the stored files, by key. They are read when the database is opened. Files that other tabs store later are
// missing.
const sizes = new Map<string, number>();
/** The key of a file in `sizes`. */
const keyOf = (draft: string, id: string) => `${draft} ${id}`;

/** Deletes files that are too old and records the sizes of the others. */
function deleteOldFiles(database: IDBDatabase): Promise<void> {
  const oldest = Date.now() - MAX_AGE_MS;
  return inTransaction(database, "readwrite", (files) =>
    forEachEntry(files.openCursor(), (cursor) => {
      const { at, file } = cursor.value as StoredFile;
      const [draft, id] = cursor.key as [string, string];
      if (at < oldest) cursor.delete();
      else sizes.set(keyOf(draft, id), file.size);
    }),
  );
}

/** Calls `visit` for each entry of a cursor request. */
function forEachEntry(
  request: IDBRequest<IDBCursorWithValue | null>,
  visit: (cursor: IDBCursorWithValue) => void,
) {
  request.addEventListener("success", () => {
    const cursor = request.result;
    if (!cursor) return;
    visit(cursor);
    cursor.continue();
  });
}

/**
 * Runs a transaction. Transactions run in the order of these calls, so that an earlier write cannot restore a deleted
 * file.
 */
function inTransaction(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  act: (files: IDBObjectStore) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(FILES, mode);
    act(transaction.objectStore(FILES));
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("aborted")));
  });
}

const logError = (error: unknown) => console.warn("Files of a draft", error);

/** Stores a file, unless all files together would exceed the limit. Errors, such as a full disk, are only logged. */
export async function saveFile(draft: string, id: string, file: File): Promise<void> {
  // The name has no user id during sign-out, while the form is still mounted.
  if (draft.startsWith("/")) return;
  try {
    const database = await openDatabase();
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, file.size);
    if (bytes > MAX_BYTES) return;
    sizes.set(keyOf(draft, id), file.size);
    const row: StoredFile = { at: Date.now(), file };
    await inTransaction(database, "readwrite", (files) => void files.put(row, [draft, id]));
  } catch (error) {
    sizes.delete(keyOf(draft, id));
    logError(error);
  }
}

/** The stored files of a draft by their ids; empty if the browser has no IndexedDB. */
export async function loadFiles(draft: string): Promise<Map<string, File>> {
  const stored = new Map<string, File>();
  try {
    await inTransaction(await openDatabase(), "readonly", (files) =>
      forEachEntry(files.openCursor(IDBKeyRange.bound([draft], [draft, []])), (cursor) => {
        stored.set((cursor.key as [string, string])[1], (cursor.value as StoredFile).file);
      }),
    );
  } catch (error) {
    logError(error);
  }
  return stored;
}

/** Deletes one file of a draft. */
export async function deleteFile(draft: string, id: string): Promise<void> {
  await deleteWhere(
    (files) => files.delete([draft, id]),
    (key) => key === keyOf(draft, id),
  );
}

/** Deletes the files of this draft and of all names below it. */
export async function deleteFiles(draft: string): Promise<void> {
  await deleteWhere(
    (files) => {
      files.delete(IDBKeyRange.bound([draft], [draft, []]));
      files.delete(IDBKeyRange.bound([`${draft}/`], [`${draft}/\uffff`]));
    },
    (key) => key.startsWith(`${draft} `) || key.startsWith(`${draft}/`),
  );
}

/** Deletes files by `act`, and removes the entries of `sizes` whose keys `isDeleted` accepts. */
async function deleteWhere(
  act: (files: IDBObjectStore) => void,
  isDeleted: (key: string) => boolean,
): Promise<void> {
  if (typeof indexedDB === "undefined") return;
  try {
    await inTransaction(await openDatabase(), "readwrite", act);
    for (const key of sizes.keys()) if (isDeleted(key)) sizes.delete(key);
  } catch (error) {
    logError(error);
  }
}
