import { useFormContext } from "react-hook-form";
import { VisibilityInputs } from "@/features/admin-products/components/visibility-inputs";
import type { ProductValues } from "@/features/admin-products/schema";
import { chooseVisibility, type Visibility } from "@/features/admin-products/visibility";
import { useT } from "@/lib/i18n";
import type { TextKey } from "@/lib/texts";

/** The fields in the form of a work (a row of products) that choose who sees the work, and from when. */
export function VisibilityFields() {
  const t = useT();
  const { register, watch, setValue, getValues, formState } = useFormContext<ProductValues>();
  const timeError = formState.errors.publish_at?.message as TextKey | undefined;
  return (
    <VisibilityInputs
      className="grid items-start gap-x-[22px] gap-y-6 sm:grid-cols-2"
      visibility={watch("visibility")}
      timeError={timeError && t(timeError)}
      selectProps={register("visibility", {
        onChange: ({ target }: { target: { value: Visibility } }) => {
          const { publish_at } = chooseVisibility(target.value, getValues("publish_at"));
          if (publish_at) setValue("publish_at", publish_at, { shouldDirty: true });
        },
      })}
      timeProps={register("publish_at")}
    />
  );
}
