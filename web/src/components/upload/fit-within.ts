import type { CSSProperties } from "react";
import { ratioOf, type ImageInfo } from "@/lib/media";

/** The style that fits a picture of known size into a box in CSS pixels, so that its placeholder has the same shape. */
export function fitWithin(box: { width: number; height: number }, of: ImageInfo): CSSProperties {
  return { width: Math.min(box.width, box.height * ratioOf(of)), height: "auto" };
}
