// corpus: swapped
#include "support.cuh"

//	cupilot:	tune
//	cupilot:	workload	grid=4	block=64	n=256	data=integers(0,9)[n]
__global__	void	indented(int*	data,	int	n)	{
	int	i	=	blockIdx.x	*	blockDim.x	+	threadIdx.x;
	if	(i	<	n)	data[i]	+=	9;
}

int main()	{
	support::Array<int>	data(256, 1, 1);
	indented	<<<	4,	64	>>>	(data.get(),	256);
	support::Show("data",	data);
}
