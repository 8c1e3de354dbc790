import type { CSSProperties } from "react";
import { ratioOf, type ImageInfo } from "@/lib/media";

/** The size of a picture that is whole in a box, so that what lies behind it has its shape. Both in CSS pixels. */
export function wholeIn(box: { width: number; height: number }, of: ImageInfo): CSSProperties {
  return { width: Math.min(box.width, box.height * ratioOf(of)), height: "auto" };
}
