import type { CSSProperties } from "react";
import { ratioOf, type ImageInfo } from "@/lib/media";

/**
 * The style that fits a picture with metadata into a box of this size in CSS pixels, so that its placeholder has its shape.
 */
export function fitWithin(box: { width: number; height: number }, info: ImageInfo): CSSProperties {
  return { width: Math.min(box.width, box.height * ratioOf(info)), height: "auto" };
}
