import { onTestFinished } from "vitest";
import { attachToastArea, type QueuedToast } from "@/lib/toast";

/** Collects the toasts of one test instead of showing them. */
export function collectToasts(): QueuedToast[] {
  const seen: QueuedToast[] = [];
  onTestFinished(attachToastArea((toast) => seen.push(toast)));
  return seen;
}
