import type { ComponentProps } from "react";
import { TextField } from "@/components/form/text-field";

/** A plain date, YYYY-MM-DD, without time or zone. */
export function DateField(props: Omit<ComponentProps<typeof TextField>, "type">) {
  return <TextField {...props} type="date" />;
}
