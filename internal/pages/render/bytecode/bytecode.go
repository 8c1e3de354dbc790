// Package bytecode compiles the script that renders pages to bytecode of the JavaScript engine QuickJS. The build calls it, so that a server
// only loads the bytecode, which takes a tenth of the time of loading the script. The bytecode is the same on every system, but it depends on
// the version of QuickJS.
package bytecode

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/andybalholm/brotli"
	"modernc.org/libc"
	"modernc.org/libquickjs"
)

// Compile returns the bytecode of a script, compressed with brotli, for render.New.
func Compile(script string) ([]byte, error) {
	bytecode, err := compileStripped(script)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z := brotli.NewWriterLevel(&packed, brotli.BestCompression)
	if _, err := z.Write(bytecode); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// compileStripped returns the bytecode without the source and the line numbers, which would take three quarters of its bytes. The script is
// minified, so its line numbers are useless. Package quickjs has no option to leave them out, so compileStripped calls the functions of the
// engine (package libquickjs) directly.
func compileStripped(script string) ([]byte, error) {
	tls := libc.NewTLS()
	defer tls.Close()
	runtime := libquickjs.XJS_NewRuntime(tls)
	defer libquickjs.XJS_FreeRuntime(tls, runtime)
	libquickjs.XJS_SetStripInfo(tls, runtime, libquickjs.MJS_STRIP_SOURCE|libquickjs.MJS_STRIP_DEBUG)
	context := libquickjs.XJS_NewContext(tls, runtime)
	defer libquickjs.XJS_FreeContext(tls, context)

	source, err := libc.CString(script)
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(tls, source)
	name, err := libc.CString("render")
	if err != nil {
		return nil, err
	}
	defer libc.Xfree(tls, name)
	function := libquickjs.XJS_Eval(tls, context, source, libquickjs.Tsize_t(len(script)), name, libquickjs.MJS_EVAL_TYPE_GLOBAL|libquickjs.MJS_EVAL_FLAG_COMPILE_ONLY)
	defer libquickjs.XFreeValue(tls, context, function)
	if libquickjs.XJS_HasException(tls, context) != 0 {
		return nil, exception(tls, context)
	}
	const sizeBytes = 8 // bytes of a size_t, because the site is built on systems of 64 bits
	length := tls.Alloc(sizeBytes)
	defer tls.Free(sizeBytes)
	written := libquickjs.XJS_WriteObject(tls, context, length, function, libquickjs.MJS_WRITE_OBJ_BYTECODE)
	if written == 0 {
		return nil, errors.New("the engine cannot write the bytecode")
	}
	defer libquickjs.Xjs_free(tls, context, written)
	size := binary.NativeEndian.Uint64(libc.GoBytes(length, sizeBytes))
	return bytes.Clone(libc.GoBytes(written, int(size))), nil
}

// exception returns the exception of the engine as an error.
func exception(tls *libc.TLS, context uintptr) error {
	thrown := libquickjs.XJS_GetException(tls, context)
	defer libquickjs.XFreeValue(tls, context, thrown)
	text := libquickjs.XJS_ToCStringLen2(tls, context, 0, thrown, 0)
	defer libquickjs.XJS_FreeCString(tls, context, text)
	return errors.New(libc.GoString(text))
}
