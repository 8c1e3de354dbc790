import type { ComponentProps } from "react";
import { TextField } from "@/components/form/text-field";

/** An input for a date without time and time zone; its value is YYYY-MM-DD. */
export function DateField(props: Omit<ComponentProps<typeof TextField>, "type">) {
  return <TextField {...props} type="date" />;
}
