import { render, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { useCarousel } from "@/components/media/carousel";

it("S4-carousel-1: moves at embla's own speed", async () => {
  const durations: (number | undefined)[] = [];
  function Covers() {
    const { viewportRef, driver, embla } = useCarousel();
    durations.push(embla?.internalEngine().options.duration);
    return (
      <div ref={viewportRef}>
        <div>
          <div>a</div>
          <div>b</div>
        </div>
        {driver}
      </div>
    );
  }
  render(<Covers />);
  await waitFor(() => expect(durations.at(-1)).toBe(25));
});
