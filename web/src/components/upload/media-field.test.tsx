import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { MediaField } from "@/components/upload/media-field";
import { useUploadQueue } from "@/components/upload/use-upload-queue";
import { useUploadToasts } from "@/components/upload/use-upload-toasts";
import type { Auth } from "@/lib/auth";
import { IMAGE_ONLY } from "@/lib/upload/media-types";
import { UploadError } from "@/lib/upload/upload-error";
import type { UploadFile } from "@/lib/upload/uploader";
import { ownerAuth } from "@/test/owner";
import { renderApp } from "@/test/render";
import { collectToasts } from "@/test/toasts";

beforeEach(() => {
  let n = 0;
  vi.spyOn(URL, "createObjectURL").mockImplementation(() => `blob:test/${n++}`);
  vi.spyOn(URL, "revokeObjectURL");
});

type Job = {
  file: File;
  progress(percent: number): void;
  done(): void;
  fail(error: unknown): void;
  signal: AbortSignal;
};

/** Uploads that the test completes. */
function pendingUploads() {
  const jobs: Job[] = [];
  const upload: UploadFile = (file, { onProgress, signal }) =>
    new Promise((resolve, reject) => {
      jobs.push({
        file,
        progress: (percent) => onProgress?.(percent),
        done: () => resolve(`/stored/${file.name}`),
        fail: reject,
        signal: signal!,
      });
    });
  return { jobs, upload };
}

type FieldProps = {
  upload: UploadFile;
  initial?: string[];
  single?: boolean;
  discard?(urls: readonly string[]): Promise<void>;
};

function Field({ upload, initial, single, discard }: FieldProps) {
  const onProblem = useUploadToasts();
  const queue = useUploadQueue({ kinds: IMAGE_ONLY, single, upload, discard, onProblem, initial });
  return (
    <>
      <MediaField label="Gallery images" kind="image" queue={queue} icon={null} />
      <output>{queue.urls.join(" ")}</output>
      <p>{queue.busy ? "busy" : "idle"}</p>
      <button onClick={queue.commit}>Save</button>
      <button onClick={() => queue.reset(["/stored/other.png"])}>Choose another</button>
    </>
  );
}

const png = (name: string) => new File(["x"], name, { type: "image/png" });
const input = () => screen.getByLabelText(/Gallery images Drop images here/);

function renderField(
  options: {
    auth?: Partial<Auth>;
    initial?: string[];
    single?: boolean;
    discard?(): Promise<void>;
  } = {},
) {
  const { jobs, upload } = pendingUploads();
  const toasts = collectToasts();
  const discard = vi.fn(options.discard ?? (async () => undefined));
  const { auth = ownerAuth, initial, single } = options;
  const view = renderApp(
    <Field upload={upload} initial={initial} single={single} discard={discard} />,
    { auth },
  );
  return { jobs, toasts, discard, user: userEvent.setup(), ...view };
}

it("A-up-each: shows every file immediately with its progress, uploads three at a time, and keeps the order", async () => {
  const { jobs, user } = renderField({ initial: ["/stored/old.png"] });
  await user.upload(input(), ["1.png", "2.png", "3.png", "4.png"].map(png));
  expect(screen.getAllByRole("listitem")).toHaveLength(5);
  expect(screen.getByText("busy")).toBeInTheDocument();
  expect(jobs).toHaveLength(3);

  jobs[1]!.progress(64);
  expect(await screen.findByText("64%")).toBeInTheDocument();
  expect(screen.getByRole("progressbar", { name: "64% uploaded" })).toHaveAttribute(
    "aria-valuenow",
    "64",
  );
  jobs[2]!.done();
  await waitFor(() => expect(jobs).toHaveLength(4));
  jobs[3]!.done();
  jobs[1]!.done();
  jobs[0]!.done();
  await waitFor(() => expect(screen.getByText("idle")).toBeInTheDocument());
  expect(
    screen.getByText("/stored/old.png /stored/1.png /stored/2.png /stored/3.png /stored/4.png"),
  ).toBeInTheDocument();
});

it("A-up-each A-up-failed: continues other uploads when some fail, shows one toast, and retries", async () => {
  const { jobs, toasts, user } = renderField();
  await user.upload(input(), ["1.png", "2.png", "3.png"].map(png));
  jobs[0]!.fail(new UploadError("no", 500));
  jobs[1]!.fail(new UploadError("no", 500));
  jobs[2]!.done();
  expect(await screen.findAllByRole("button", { name: "Try again" })).toHaveLength(2);
  expect(toasts).toEqual([
    {
      channel: "stacked",
      title: "Upload failed",
      description: "There was an error uploading the images. Please try again.",
      destructive: true,
    },
  ]);
  await user.click(screen.getAllByRole("button", { name: "Try again" })[0]!);
  await waitFor(() => expect(jobs).toHaveLength(4));
  jobs[3]!.done();
  await waitFor(() => expect(screen.getByText("/stored/1.png /stored/3.png")).toBeInTheDocument());
});

it("A-up-each: cancels a running upload", async () => {
  const { jobs, toasts, user } = renderField();
  await user.upload(input(), png("1.png"));
  await user.click(screen.getByRole("button", { name: "Cancel upload" }));
  expect(jobs[0]!.signal.aborted).toBe(true);
  jobs[0]!.fail(new DOMException("gone", "AbortError"));
  await waitFor(() => expect(screen.queryByRole("listitem")).not.toBeInTheDocument());
  expect(toasts).toEqual([]);
});

it("aborts the uploads and revokes the previews when the form unmounts", async () => {
  const { jobs, user, unmount } = renderField();
  await user.upload(input(), png("1.png"));
  unmount();
  expect(jobs[0]!.signal.aborted).toBe(true);
  expect(URL.revokeObjectURL).toHaveBeenCalledWith("blob:test/0");
});

it("accepts dropped files and shows that they can be dropped", async () => {
  const { jobs } = renderField();
  const area = input().closest("label")!;
  const dataTransfer = { types: ["Files"], files: [png("1.png")], dropEffect: "none" };
  fireEvent.dragEnter(area, { dataTransfer });
  expect(screen.getByText("Release to upload")).toBeInTheDocument();
  fireEvent.drop(area, { dataTransfer });
  expect(screen.queryByText("Release to upload")).not.toBeInTheDocument();
  await waitFor(() => expect(jobs).toHaveLength(1));
});

it("rejects files of another kind, with their names in a toast", async () => {
  const { jobs, toasts } = renderField();
  fireEvent.change(input(), { target: { files: [new File(["<svg/>"], "x.svg")] } });
  await waitFor(() => expect(toasts).toHaveLength(1));
  expect(toasts[0]!.description).toContain("x.svg cannot be used here");
  expect(jobs).toEqual([]);
});

it("only shows a toast if the user is not an admin", async () => {
  const { jobs, toasts, user } = renderField({
    auth: { role: null },
    initial: ["/stored/old.png"],
  });
  await user.upload(input(), png("1.png"));
  const item = within(screen.getByRole("listitem"));
  await user.click(item.getByRole("button", { name: "Remove" }));
  expect(jobs).toEqual([]);
  expect(screen.getByText("/stored/old.png")).toBeInTheDocument();
  expect(toasts.map(({ title, description }) => [title, description])).toEqual([
    ["Unauthorized", "Only admin users can upload images."],
    ["Unauthorized", "Only admin users can remove images."],
  ]);
});

it("shows why the server has rejected an upload", async () => {
  const { jobs, toasts, user } = renderField();
  await user.upload(input(), png("1.png"));
  jobs[0]!.fail(new UploadError("row-level security", 403));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Unauthorized" }]));
});

it("discards stored files that were not saved: removed ones immediately, the others when the form unmounts", async () => {
  const { jobs, discard, user, unmount } = renderField({ initial: ["/stored/old.png"] });
  await user.upload(input(), ["1.png", "2.png"].map(png));
  jobs[0]!.done();
  jobs[1]!.done();
  await waitFor(() => expect(screen.getByText("idle")).toBeInTheDocument());
  await user.click(screen.getAllByRole("button", { name: "Remove" })[1]!);
  expect(discard).toHaveBeenCalledExactlyOnceWith(["/stored/1.png"]);
  // A file of a saved row is deleted only when the row is saved without it.
  await user.click(screen.getAllByRole("button", { name: "Remove" })[0]!);
  expect(discard).toHaveBeenCalledTimes(1);
  unmount();
  expect(discard.mock.calls).toEqual([[["/stored/1.png"]], [["/stored/2.png"]]]);
});

it("A-up-failed: shows a toast when a stored file could not be deleted", async () => {
  const { jobs, toasts, user } = renderField({
    discard: () => Promise.reject(new UploadError("no", 500)),
  });
  await user.upload(input(), png("1.png"));
  jobs[0]!.done();
  await user.click(await screen.findByRole("button", { name: "Remove" }));
  await waitFor(() =>
    expect(toasts).toMatchObject([
      { title: "Error", description: "Failed to remove image. Please try again." },
    ]),
  );
});

it("A-up-orphans: discards no file after commit()", async () => {
  const { jobs, discard, user, unmount } = renderField();
  await user.upload(input(), ["1.png", "2.png"].map(png));
  jobs[0]!.done();
  jobs[1]!.done();
  await waitFor(() => expect(screen.getByText("idle")).toBeInTheDocument());
  await user.click(screen.getByRole("button", { name: "Save" }));
  await user.click(screen.getAllByRole("button", { name: "Remove" })[0]!);
  unmount();
  expect(discard).not.toHaveBeenCalled();
});

it("A-up-orphans: discards a file that was not saved when another one replaces it, unless a save has begun", async () => {
  const { jobs, discard, user, unmount } = renderField({
    initial: ["/stored/old.png"],
    single: true,
  });
  await user.upload(input(), png("1.png"));
  jobs[0]!.done();
  expect(await screen.findByText("/stored/1.png")).toBeInTheDocument();
  // The file of a saved row is deleted only when the row is saved without it.
  expect(discard).not.toHaveBeenCalled();
  await user.upload(input(), png("2.png"));
  expect(discard).not.toHaveBeenCalled();
  jobs[1]!.done();
  expect(await screen.findByText("/stored/2.png")).toBeInTheDocument();
  expect(discard).toHaveBeenCalledExactlyOnceWith(["/stored/1.png"]);

  await user.click(screen.getByRole("button", { name: "Save" }));
  await user.upload(input(), png("3.png"));
  jobs[2]!.done();
  expect(await screen.findByText("/stored/3.png")).toBeInTheDocument();
  unmount();
  expect(discard).toHaveBeenCalledTimes(1);
});

it("A-up-orphans: a file that is not in the queue any more, because another queue may have it, is discarded only when the form unmounts", async () => {
  const { jobs, discard, user, unmount } = renderField({ single: true });
  await user.upload(input(), png("1.png"));
  jobs[0]!.done();
  expect(await screen.findByText("/stored/1.png")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Choose another" }));
  await user.upload(input(), png("2.png"));
  jobs[1]!.done();
  expect(await screen.findByText("/stored/2.png")).toBeInTheDocument();
  expect(discard).not.toHaveBeenCalled();
  unmount();
  expect(discard).toHaveBeenCalledExactlyOnceWith(["/stored/1.png", "/stored/2.png"]);
});
