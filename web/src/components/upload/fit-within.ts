import type { CSSProperties } from "react";
import { ratioOf, type ImageInfo } from "@/lib/media";

/**
 * The style that fits a picture into a box, whose size is in CSS pixels. With this style the placeholder of a loading picture has
 * the shape of the picture.
 */
export function fitWithin(box: { width: number; height: number }, info: ImageInfo): CSSProperties {
  return { width: Math.min(box.width, box.height * ratioOf(info)), height: "auto" };
}
