package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"atelie/internal/media/rendition"
)

// This file measures how fast the renditions of a picture (the picture in other sizes) are made, and their quality. Heavy work runs in child
// processes (see run). The peak memory of a child includes its parent's memory at the child's start, so this process must stay small.

// pictureTable compares the program's own picture engine (package rendition) with the vips command. Both make the ladder of a picture: its
// renditions in the standard widths, in WebP and JPEG. The own engine makes them in one process, together with the placeholder (a tiny
// blurred preview). vips needs one process that scales the source to 2560 pixels, and then one process for each file.
func pictureTable(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "atelie-pictures")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	_, vipsErr := exec.LookPath("vips")
	if _, err := fmt.Fprint(out, "\n## Pictures: the ladder in WebP and JPEG, placeholder\n\n"+
		"Median of three. Five widths are the main ones; fourteen are all that the program makes.\n"+
		"\"vips\" is the vips command: the CPU of all its processes, and in brackets without the cost of starting them. SSIM is to an\n"+
		"exact Lanczos, in luma, from the smallest width to the largest; \"SSIM gain at equal size\" is how much more of it vips' WebP has than\n"+
		"ours at the width where that is most, when its quality is set so that both weigh the same.\n\n",
		"| source | our CPU | vips' CPU | ratio | our peak | vips' peak | our WebP | vips' WebP | SSIM, ours | SSIM, vips' | SSIM gain at equal size |\n"+
			"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"); err != nil {
		return err
	}
	mainWidths := rendition.MainWidths[:]
	allWidths := slices.Sorted(slices.Values(slices.Concat(rendition.MainWidths[:], rendition.ExtraWidths[:])))
	for _, c := range []pictureCase{
		{"24 MP, 4:2:0, five", 6000, 4000, false, "200MiB", 3, mainWidths},
		{"24 MP, 4:4:4, five", 6000, 4000, true, "200MiB", 3, mainWidths},
		{"24 MP, 4:2:0, fourteen", 6000, 4000, false, "200MiB", 3, allWidths},
		{"100 MP, 4:2:0, five", 11648, 8736, false, "500MiB", 1, mainWidths},
		{"100 MP, 4:4:4, five", 11648, 8736, true, "500MiB", 1, mainWidths},
	} {
		if c.fullColour && vipsErr != nil {
			continue // only vips can write the source
		}
		row, err := pictureRow(ctx, dir, c, vipsErr == nil)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, row); err != nil {
			return err
		}
	}
	return nil
}

// pictureCase is a source picture, and the renditions to make from it.
type pictureCase struct {
	name       string
	w, h       int    // size of the source in pixels
	fullColour bool   // 4:4:4, colour at full resolution; only vips can write such a source
	limit      string // GOMEMLIMIT of our engine
	rounds     int    // number of measurements; their median is printed
	widths     []int  // widths of the renditions in pixels
}

func pictureRow(ctx context.Context, dir string, c pictureCase, haveVips bool) (string, error) {
	source := filepath.Join(dir, "source.jpg")
	if _, err := child(ctx, "", self(), "picture-generate", source, strconv.Itoa(c.w), strconv.Itoa(c.h)); err != nil {
		return "", err
	}
	if c.fullColour {
		full := filepath.Join(dir, "full.jpg")
		if _, err := child(ctx, "", "vips", "jpegsave", source, full, "--Q", "92", "--subsample-mode", "off"); err != nil {
			return "", err
		}
		source = full
	}
	var ours, theirs, withVips []cost
	for range c.rounds {
		if haveVips { // before our engine, whose files must remain for the comparison
			cost, err := ourPictures(ctx, dir, source, "", c.widths, "vips")
			if err != nil {
				return "", err
			}
			withVips = append(withVips, cost)
			if cost, err = vipsPictures(ctx, dir, source, c.widths); err != nil {
				return "", err
			}
			theirs = append(theirs, cost)
		}
		cost, err := ourPictures(ctx, dir, source, c.limit, c.widths)
		if err != nil {
			return "", err
		}
		ours = append(ours, cost)
	}
	var ourSSIM, theirSSIM, atEqual string
	a := medianCost(ours)
	// Only for 24 megapixels: with 100 the exact filter takes minutes.
	if compared := c.rounds > 1 && len(c.widths) == len(rendition.MainWidths); compared {
		own, err := similarities(ctx, source, c.widths, func(i int) string { return ourFile(dir, i) })
		if err != nil {
			return "", err
		}
		ourSSIM = joined(own)
		if haveVips {
			other, err := similarities(ctx, source, c.widths, func(i int) string { return vipsFile(dir, c.widths[i], "webp") })
			if err != nil {
				return "", err
			}
			theirSSIM = joined(other)
			most, err := atEqualBytes(ctx, dir, source, c.widths, own)
			if err != nil {
				return "", err
			}
			atEqual = fmt.Sprintf("**%.4f**", most)
		}
	}
	if !haveVips {
		return fmt.Sprintf("| %s | %.2f s | not installed | | %.0f MB | | %.0f kB | | %s | | |\n", c.name, a.cpu.Seconds(), a.peak, a.webp, ourSSIM), nil
	}
	b, v := medianCost(theirs), medianCost(withVips)
	return fmt.Sprintf("| %s | %.2f s | %.2f s (%.2f) | **%.2f** (%.2f) | **%.0f MB** | %.0f MB | %.0f kB | %.0f kB | %s | %s | %s |\n", c.name,
		a.cpu.Seconds(), b.cpu.Seconds(), (b.cpu-b.starts).Seconds(), a.cpu.Seconds()/b.cpu.Seconds(),
		a.cpu.Seconds()/(b.cpu-b.starts).Seconds(), a.peak, b.peak, a.webp, b.webp, ourSSIM, theirSSIM, atEqual) +
		fmt.Sprintf("| %s, by our worker with vips | %.2f s | | **%.2f** (%.2f) | **%.0f MB** | | | | | | |\n", c.name,
			v.cpu.Seconds(), v.cpu.Seconds()/b.cpu.Seconds(), v.cpu.Seconds()/(b.cpu-b.starts).Seconds(), v.peak), nil
}

// atEqualBytes returns by how much the SSIM of vips' WebP exceeds ours if both have the same number of bytes, at the width
// where the difference is largest. It interpolates linearly between the two qualities of vips whose files are just smaller
// and just larger.
func atEqualBytes(ctx context.Context, dir, source string, widths []int, own []float64) (most float64, err error) {
	most = math.Inf(-1)
	for i, w := range widths {
		mine, err := os.Stat(ourFile(dir, i))
		if err != nil {
			return 0, err
		}
		at := func(q int) string { return filepath.Join(dir, fmt.Sprintf("equal-%d-%d.webp", w, q)) }
		weight := func(q int) (float64, error) {
			if _, err := child(ctx, "", "vips", "webpsave", vipsFile(dir, w, "v"), at(q), "--Q", strconv.Itoa(q), "--strip"); err != nil {
				return 0, err
			}
			info, err := os.Stat(at(q))
			if err != nil {
				return 0, err
			}
			return float64(info.Size()), nil
		}
		q := 80
		low, err := weight(q)
		if err != nil {
			return 0, err
		}
		for ; low > float64(mine.Size()); q-- {
			if low, err = weight(q - 1); err != nil {
				return 0, err
			}
		}
		high, err := weight(q + 1)
		if err != nil {
			return 0, err
		}
		for ; high < float64(mine.Size()); q++ {
			low = high
			if high, err = weight(q + 2); err != nil {
				return 0, err
			}
		}
		both, err := similarities(ctx, source, []int{w, w}, func(k int) string { return at(q + k) })
		if err != nil {
			return 0, err
		}
		theirs := both[0] + (both[1]-both[0])*(float64(mine.Size())-low)/(high-low)
		most = max(most, theirs-own[i])
	}
	return most, nil
}

func joined(values []float64) string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%.4f", v))
	}
	return strings.Join(out, " ")
}

// cost is the cost of one or several processes.
type cost struct {
	cpu    time.Duration // CPU time of all processes
	starts time.Duration // the part of cpu for starting them
	peak   float64       // memory of the largest process, in MB
	webp   float64       // size of the WebP files, in kB
}

func (c *cost) add(d cost) { c.cpu, c.peak = c.cpu+d.cpu, max(c.peak, d.peak) }

// medianCost returns the median of each field; webp is that of the first, because all are equal.
func medianCost(all []cost) cost {
	var cpu, starts []time.Duration
	var peak []float64
	for _, c := range all {
		cpu, starts, peak = append(cpu, c.cpu), append(starts, c.starts), append(peak, c.peak)
	}
	return cost{median(cpu), median(starts), median(peak), all[0].webp}
}

// self returns the path of this program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// child runs a program to its end and returns its cost. limit is its GOMEMLIMIT, or "".
func child(ctx context.Context, limit, name string, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "GOMEMLIMIT="+limit)
	if limit == "" {
		cmd.Env = os.Environ()
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		return cost{}, fmt.Errorf("%s %v: %w: %s", filepath.Base(name), args, err, msg)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return cost{}, errors.New("no figures of a process on this system")
	}
	return cost{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak: float64(usage.Maxrss) / 1024 * 1.048576}, nil
}

// ourPictures makes the renditions of source with our engine, or with a worker that uses vips if engine is given.
func ourPictures(ctx context.Context, dir, source, limit string, widths []int, engine ...string) (cost, error) {
	job := rendition.Job{Source: source, Folder: dir, NeedsFacts: true}
	for _, w := range widths {
		job.Orders = append(job.Orders, rendition.Order{Width: w, Format: rendition.WebP}, rendition.Order{Width: w, Format: rendition.JPEG})
	}
	text, err := json.Marshal(job)
	if err != nil {
		return cost{}, err
	}
	c, err := child(ctx, limit, self(), append([]string{"picture-make", string(text)}, engine...)...)
	if err != nil || len(engine) > 0 { // the worker gives its files other names
		return c, err
	}
	return c, c.weigh(widths, func(i int) string { return ourFile(dir, i) })
}

// vipsPictures makes the same renditions with the vips command.
func vipsPictures(ctx context.Context, dir, source string, widths []int) (cost, error) {
	var sum cost
	n := 0
	vips := func(args ...string) error {
		c, err := child(ctx, "", "vips", args...)
		sum.add(c)
		n++
		return err
	}
	top := widths[len(widths)-1]
	base := vipsFile(dir, top, "v")
	if err := vips("thumbnail", source, base, strconv.Itoa(top), "--height", "100000", "--size", "down"); err != nil {
		return sum, err
	}
	for _, w := range widths {
		for _, ending := range []string{"webp", "jpg"} {
			to := vipsFile(dir, w, ending) + "[Q=80,strip]"
			args := []string{"thumbnail", base, to, strconv.Itoa(w), "--height", "100000"}
			if w == top {
				args = []string{"copy", base, to}
			}
			if err := vips(args...); err != nil {
				return sum, err
			}
		}
	}
	start, err := child(ctx, "", "vips", "black", filepath.Join(dir, "start.v"), "1", "1")
	if err != nil {
		return sum, err
	}
	sum.starts = start.cpu * time.Duration(n)
	for _, w := range widths[:len(widths)-1] { // sources for atEqualBytes, which do not count
		if _, err := child(ctx, "", "vips", "thumbnail", base, vipsFile(dir, w, "v"), strconv.Itoa(w), "--height", "100000"); err != nil {
			return sum, err
		}
	}
	return sum, sum.weigh(widths, func(i int) string { return vipsFile(dir, widths[i], "webp") })
}

func ourFile(dir string, rung int) string { return filepath.Join(dir, fmt.Sprintf("%d.webp", 2*rung)) }

func vipsFile(dir string, width int, ending string) string {
	return filepath.Join(dir, fmt.Sprintf("vips-%d.%s", width, ending))
}

// weigh adds the sizes of the WebP files.
func (c *cost) weigh(widths []int, name func(rung int) string) error {
	for i := range widths {
		info, err := os.Stat(name(i))
		if err != nil {
			return err
		}
		c.webp += float64(info.Size()) / 1000
	}
	return nil
}

// similarities returns the SSIM of WebP files to the source, one value for each width.
func similarities(ctx context.Context, source string, widths []int, name func(i int) string) (values []float64, err error) {
	args := []string{"picture-similarity", source}
	for i := range widths {
		args = append(args, name(i))
	}
	out, err := exec.CommandContext(ctx, self(), args...).Output()
	if err != nil {
		return nil, err
	}
	for text := range strings.FieldsSeq(string(out)) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// makePictures runs the rendition job of the first argument. Without a second argument our engine runs it in this process;
// otherwise a worker process of the program runs it with the vips command.
func makePictures(ctx context.Context, args []string) error {
	var job rendition.Job
	if err := json.NewDecoder(strings.NewReader(strings.Join(args[:min(1, len(args))], ""))).Decode(&job); err != nil {
		return err
	}
	if len(args) < 2 {
		_, err := rendition.Make(ctx, job, rendition.Limits{})
		return err
	}
	program, err := filepath.Abs(binary) // absolute, because the worker starts in another folder
	if err != nil {
		return err
	}
	processor, err := rendition.NewProcessor(rendition.Config{Vips: "auto", Program: []string{program, rendition.Command}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	made, err := processor.Make(ctx, job)
	if err == nil && made.Engine != "vips" {
		err = fmt.Errorf("made by %s", made.Engine)
	}
	return err
}

func generatePicture(args []string) error {
	if len(args) != 3 {
		return errors.New("path, width, height")
	}
	width, errW := strconv.Atoi(args[1])
	height, errH := strconv.Atoi(args[2])
	if err := errors.Join(errW, errH); err != nil {
		return err
	}
	return generate(args[0], width, height)
}

// generate writes a JPEG with the properties of a painting: overlapping shapes of all sizes with soft shading, strokes and
// grain. The same size gives the same picture.
func generate(path string, width, height int) (err error) {
	r := rand.New(rand.NewPCG(uint64(width), uint64(height)))
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = 200
	}
	unit := float64(width) / 6000
	for range 2500 {
		leaf(m, r, unit)
	}
	grain(m)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	return errors.Join(jpeg.Encode(w, m, &jpeg.Options{Quality: 92}), w.Flush())
}

// leaf draws an ellipse of one colour with shading and strokes. Its random size is often small and rarely large.
func leaf(m *image.RGBA, r *rand.Rand, unit float64) {
	size := unit * 40 / math.Pow(r.Float64()+0.0008, 0.52)
	cx, cy := r.Float64()*float64(m.Rect.Dx()), r.Float64()*float64(m.Rect.Dy())
	sin, cos := math.Sincos(r.Float64() * math.Pi)
	long, wide := size*(1+r.Float64()), size
	base := [3]float64{40 + 190*r.Float64(), 40 + 180*r.Float64(), 40 + 180*r.Float64()}
	shade, stroke := 40*r.NormFloat64(), 10*r.Float64()
	period := unit * (4 + 20*r.Float64())
	for y := max(0, int(cy-long)); y < min(m.Rect.Dy(), int(cy+long)); y++ {
		for x := max(0, int(cx-long)); x < min(m.Rect.Dx(), int(cx+long)); x++ {
			u := ((float64(x)-cx)*cos + (float64(y)-cy)*sin) / long
			v := ((float64(y)-cy)*cos - (float64(x)-cx)*sin) / wide
			if u*u+v*v > 1 {
				continue
			}
			at := m.PixOffset(x, y)
			light := shade*u + stroke*wave(v*wide/period+u)
			for c := range 3 {
				m.Pix[at+c] = uint8(min(max(base[c]+light, 0), 255))
			}
		}
	}
}

// wave approximates a sine by parabolas, because it is called some hundred million times.
func wave(x float64) float64 {
	x -= math.Floor(x)
	if x < 0.5 {
		return 16 * x * (0.5 - x)
	}
	return -16 * (x - 0.5) * (1 - x)
}

// grain adds noise to all channels, for single pixels and for squares of 8 × 8 pixels.
func grain(m *image.RGBA) {
	clumps := make([]int, m.Rect.Dx()/8+1)
	state := uint32(1)
	next := func() int {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		return int(state>>24&15) + int(state>>16&15) - 15
	}
	for y := range m.Rect.Dy() {
		if y%8 == 0 {
			for i := range clumps {
				clumps[i] = next() / 2
			}
		}
		for x := range m.Rect.Dx() {
			at, n := m.PixOffset(x, y), next()/3+clumps[x/8]
			for c := range 3 {
				m.Pix[at+c] = uint8(min(max(int(m.Pix[at+c])+n, 0), 255))
			}
		}
	}
}
